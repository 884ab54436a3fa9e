//! The profiles that come with the simulator, and `base`, by which another is laid over one of them.

use super::Profile;
use super::check::{ProfileError, ProfileErrors};
use crate::words::nearest;

macro_rules! builtin {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../profiles/", $name, ".toml")))),*]
    };
}

const BUILTIN: [(&str, &str); 21] = builtin! {
    "melded-tlc-8x8" "melded-tlc-16x4" "melded-qlc-8x8" "palloc-mlc-8x8x2" "nvmset-2tb"
    "enterprise-8tb" "optane-900p" "flash-970pro" "deepflash"
    "7450-pro" "7450-max" "p5520" "pe8110" "pm9a3" "cm7-r"
    "wd-960" "980-pro" "zn540" "pm9d3a" "fadu" "dramless"
};

const BASE: &str = "base";

impl Profile {
    /// The built-in profile of that name.
    ///
    /// # Errors
    ///
    /// None has that name: those that there are, and which one may be meant.
    pub fn builtin(name: &str) -> Result<Profile, ProfileErrors> {
        match Profile::builtin_text(name) {
            Some(text) => Profile::from_toml(text),
            None => Err(ProfileError::not_built_in(name).into()),
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

impl ProfileError {
    /// That no built-in profile has this name; the remedy says which one may be meant, and which
    /// there are.
    pub fn not_built_in(name: &str) -> ProfileError {
        let message = format!("\"{name}\" is not a built-in profile");
        let remedy = use_a_builtin(name) + ", or the path of a TOML file";
        ProfileError::new("profile", message, remedy)
    }
}

/// What to do about a name that is none.
fn use_a_builtin(name: &str) -> String {
    let names: Vec<&str> = Profile::builtin_names().collect();
    let meant = nearest(name, Profile::builtin_names());
    let meant = meant.map_or(String::new(), |meant| format!("did you mean {meant}? "));
    format!("{meant}use one of {}", names.join(", "))
}

/// The profile's table over that of its base, or as it is when it names none; and what is wrong
/// with the name.
pub(super) fn over_base(mut profile: toml::Table) -> (toml::Table, Option<ProfileError>) {
    let Some(base) = profile.remove(BASE) else {
        return (profile, None);
    };
    let text = base.as_str().and_then(Profile::builtin_text);
    if let Some(mut merged) = text.and_then(|text| text.parse().ok()) {
        lay_over(&mut merged, profile);
        return (merged, None);
    }
    let (message, remedy) = match base.as_str() {
        Some(name) => (format!("is {base}, which is unknown"), use_a_builtin(name)),
        None => (format!("is {base}"), use_a_builtin("")),
    };
    (profile, Some(ProfileError::new(BASE, message, remedy)))
}

/// Sections are merged key by key; any other value, lists too, replaces the one below.
pub(super) fn lay_over(below: &mut toml::Table, above: toml::Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(toml::Value::Table(section)), toml::Value::Table(keys)) => {
                lay_over(section, keys);
            }
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
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
    fn an_inherited_key_can_be_taken_away() {
        let profile = |more: &str| {
            let text = format!("base = \"melded-tlc-8x8\"\n[timing]\nread = [\"50us\"]\n{more}");
            Profile::from_toml(&text).expect("a profile")
        };
        let error = profile("").validate().expect_err("SLC cannot meld");
        let said = "timing.melded_read: is given for wordlines of one page; \
                    leave it out, or make it \"none\" if it is inherited";
        assert_eq!(error.to_string(), said);
        let slc = profile("melded_read = \"none\"\nprogram_pages = \"none\"\n");
        slc.validate().expect("SLC");
        assert_eq!(slc.timing.melded_read, None);
        // The same by a setting.
        let text = Profile::builtin_text("melded-tlc-8x8").expect("the base");
        let settings = ["timing.read=[\"50us\"]", "timing.melded_read=none"];
        let settings = settings.map(|setting| setting.parse().expect("a setting"));
        let set = Profile::from_toml_with(text, &settings).expect("a profile");
        set.validate().expect("SLC");
        assert_eq!(set.timing, slc.timing);
    }

    #[test]
    fn a_wrong_base_and_wrong_keys_over_it_are_named() {
        for (text, said) in [
            ("base = \"none\"", "base: is \"none\", which is unknown"),
            ("base = \"melded-tlc-8x9\"", "did you mean melded-tlc-8x8?"),
            ("base = 3", "base: is 3; use one of melded-tlc-8x8"),
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
