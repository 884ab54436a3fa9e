//! `base = "preset"`: a profile that says only how it differs from a built-in one.

use super::{Profile, ProfileError};

const KEY: &str = "base";

/// The profile's table over that of its base; as it is when it names none.
pub(super) fn over_base(mut profile: toml::Table) -> Result<toml::Table, ProfileError> {
    let Some(base) = profile.remove(KEY) else {
        return Ok(profile);
    };
    let names = || Profile::builtin_names().collect::<Vec<_>>().join(", ");
    let remedy = || format!("name a built-in profile: {}", names());
    let Some(name) = base.as_str() else {
        return Err(ProfileError::new(KEY, format!("is {base}"), remedy()));
    };
    let unknown = || ProfileError::new(KEY, format!("is {base}, which is unknown"), remedy());
    let mut merged: toml::Table = Profile::builtin_text(name)
        .and_then(|text| text.parse().ok())
        .ok_or_else(unknown)?;
    lay_over(&mut merged, profile);
    Ok(merged)
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
