//! `KEY=VALUE`: one key of a profile, said apart from its text.

use std::fmt;
use std::str::FromStr;

use super::base::lay_over;

/// A key of a profile and its value, such as `ftl.page_allocation=PDWC` or `sets.count=4`.
///
/// The value is read as TOML and, where it is none, as a string: quotes may be left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    text: String,
    /// The key's sections with the one value in them.
    table: toml::Table,
}

impl Setting {
    /// Lays the setting over a profile's own keys.
    pub(super) fn lay_over(&self, profile: &mut toml::Table) {
        lay_over(profile, self.table.clone());
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        let (key, value) = (key.trim(), value.trim());
        let named = |part: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            !part.is_empty() && part.chars().all(plain)
        };
        if value.is_empty() || !key.split('.').all(named) {
            return Err(format!(
                "is \"{text}\", which is no setting; write KEY=VALUE, such as ftl.page_allocation=PDWC"
            ));
        }
        let mut value = toml_value(value);
        let mut parts = key.rsplit('.');
        let mut name = parts.next().unwrap_or(key);
        for section in parts {
            let mut inner = toml::Table::new();
            inner.insert(name.to_owned(), value);
            (name, value) = (section, toml::Value::Table(inner));
        }
        let mut table = toml::Table::new();
        table.insert(name.to_owned(), value);
        Ok(Setting {
            text: text.to_owned(),
            table,
        })
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn toml_value(text: &str) -> toml::Value {
    const KEY: &str = "value";
    let read = format!("{KEY} = {text}").parse::<toml::Table>().ok();
    read.filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove(KEY))
        .unwrap_or_else(|| toml::Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::profile::SetLayout;

    fn with(name: &str, settings: &[&str]) -> Result<Profile, String> {
        let settings: Result<Vec<Setting>, String> =
            settings.iter().map(|text| text.parse()).collect();
        let text = Profile::builtin_text(name).unwrap_or(name);
        Profile::from_toml_with(text, &settings?).map_err(|errors| errors.to_string())
    }

    #[test]
    fn settings_replace_keys_and_leave_the_rest() {
        let base = Profile::builtin("melded-tlc-8x8").expect("a profile");
        let settings = [
            "ftl.page_allocation=PDWC",
            "sets.layout = vertical",
            "sets.count=4",
            "timing.read=[\"50us\", \"60us\", \"70us\"]",
            "controller.write_cache=false",
            "description=\"of my own\"",
        ];
        let set = with("melded-tlc-8x8", &settings).expect("a profile");
        assert_eq!(set.ftl.page_allocation.to_string(), "PDWC");
        assert_eq!((set.sets.layout, set.sets.count), (SetLayout::Vertical, 4));
        assert!(!set.controller.write_cache);
        assert_eq!(set.description, "of my own");
        let mut back = set.clone();
        back.ftl.page_allocation = base.ftl.page_allocation;
        back.sets = base.sets.clone();
        back.timing.read = base.timing.read.clone();
        back.controller.write_cache = base.controller.write_cache;
        back.description = base.description.clone();
        assert_eq!(back, base);
        assert_eq!(with("melded-tlc-8x8", &[]), Ok(base));
    }

    #[test]
    fn a_later_setting_wins_and_the_base_can_be_set() {
        let set = with(
            "name = \"mine\"",
            &["base=melded-qlc-8x8", "name=x", "name=y"],
        );
        let set = set.expect("a profile");
        let mut expected = Profile::builtin("melded-qlc-8x8").expect("the base");
        expected.name = "y".to_owned();
        assert_eq!(set, expected);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (setting, said) in [
            ("", "no setting"),
            ("ftl.page_allocation", "no setting"),
            ("=3", "no setting"),
            ("ftl..page=3", "no setting"),
            ("ftl page=3", "no setting"),
            ("ftl.wrong=3", "ftl.wrong: is not a key"),
            ("sets.count=four", "sets.count"),
            ("sets.count=1\nname=2", "sets.count"),
            ("name.x=1", "name"),
            ("ftl.page_allocation=PPPP", "no page allocation"),
        ] {
            let error = with("melded-tlc-8x8", &[setting]).expect_err(setting);
            assert!(error.contains(said), "{setting}: {error}");
        }
    }
}
