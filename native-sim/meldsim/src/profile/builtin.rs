//! The profiles that come with the simulator, and `base`, by which another is laid over one of them.

use super::text::lay_over;
use super::{Profile, ProfileError, ProfileErrors};

macro_rules! builtin {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../profiles/", $name, ".toml")))),*]
    };
}

const BUILTIN: [(&str, &str); 9] = builtin! {
    "melded-tlc-8x8" "melded-tlc-16x4" "melded-qlc-8x8" "palloc-mlc-8x8x2" "nvmset-2tb"
    "enterprise-8tb" "optane-900p" "flash-970pro" "deepflash"
};

const BASE: &str = "base";

impl Profile {
    /// The built-in profile of that name.
    ///
    /// # Errors
    ///
    /// None has that name.
    pub fn builtin(name: &str) -> Result<Profile, ProfileErrors> {
        match Profile::builtin_text(name) {
            Some(text) => Profile::from_toml(text),
            None => {
                let message = format!("\"{name}\" is not a built-in profile");
                let remedy = format!("use one of {}, or the path of a file", names());
                Err(ProfileError::new("profile", message, remedy).into())
            }
        }
    }

    /// The built-in profile of that name as it was written, with its comments on where each number
    /// comes from.
    pub fn builtin_text(name: &str) -> Option<&'static str> {
        let found = BUILTIN.iter().find(|(builtin, _)| *builtin == name);
        found.map(|(_, text)| *text)
    }

    /// The names of the built-in profiles.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }
}

fn names() -> String {
    Profile::builtin_names().collect::<Vec<_>>().join(", ")
}

/// The profile's table over that of its base; as it is when it names none.
pub(super) fn over_base(mut profile: toml::Table) -> Result<toml::Table, ProfileError> {
    let Some(base) = profile.remove(BASE) else {
        return Ok(profile);
    };
    let refused = |message: String| {
        let remedy = format!("name a built-in profile: {}", names());
        ProfileError::new(BASE, message, remedy)
    };
    let name = base.as_str().ok_or_else(|| refused(format!("is {base}")))?;
    let mut merged: toml::Table = Profile::builtin_text(name)
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| refused(format!("is {base}, which is unknown")))?;
    lay_over(&mut merged, profile);
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_replaces_the_base_and_the_rest_stays() {
        let text = "base = \"melded-tlc-8x8\"\nname = \"mine\"\n\
                    [ftl]\npage_allocation = \"PDWC\"\n[timing]\nread = [\"50us\", \"60us\", \"70us\"]\n";
        let profile = Profile::from_toml(text).expect("a profile");

        let mut expected = Profile::builtin("melded-tlc-8x8").expect("the base");
        assert_ne!(profile, expected);
        let whole = Profile::from_toml(&profile.to_toml()).expect("a whole profile");
        assert_eq!(whole, profile, "what is written has no base");
        expected.name = "mine".into();
        expected.ftl.page_allocation = profile.ftl.page_allocation;
        expected.timing.read = profile.timing.read.clone();
        assert_eq!(profile, expected);
        assert!(profile.to_toml().contains("PDWC"));
    }

    #[test]
    fn a_wrong_base_and_wrong_keys_over_it_are_named() {
        for (text, said) in [
            ("base = \"none\"", "base: is \"none\", which is unknown"),
            ("base = 3", "base: is 3; name a built-in profile"),
            (
                "base = \"melded-tlc-8x8\"\n[ftl]\nwrong = 1",
                "ftl.wrong: is not a key",
            ),
            (
                "base = \"optane-900p\"\n[gc]\nvictim = \"greedy\"",
                "gc: does not belong",
            ),
        ] {
            let error = Profile::from_toml(text).expect_err(text).to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
