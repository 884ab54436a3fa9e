//! Profiles from and to TOML, and single keys said apart from the text.

use std::fmt;
use std::str::FromStr;

use super::builtin::over_base;
use super::{Kind, Profile, ProfileError, ProfileErrors};

/// Keys of flash that have no default.
const REQUIRED_OF_NAND: &[&str] = &[
    "name",
    "geometry.channels",
    "geometry.dies_per_channel",
    "geometry.blocks_per_plane",
    "geometry.wordlines_per_block",
    "geometry.page_size",
    "bus.rate",
    "bus.width_bits",
    "timing.read",
    "timing.program",
    "timing.erase",
];

impl Kind {
    /// Keys without a default.
    const fn required(self) -> &'static [&'static str] {
        match self {
            Kind::Nand => REQUIRED_OF_NAND,
            Kind::Xpoint => &["name"],
        }
    }

    /// Sections, and keys of shared sections, that only a device of the other kind has.
    const fn foreign(self) -> &'static [&'static str] {
        match self {
            Kind::Nand => &["xpoint"],
            Kind::Xpoint => &[
                "geometry",
                "bus",
                "timing",
                "commands",
                "energy",
                "controller.write_buffer",
                "controller.write_cache",
                "controller.read_segment",
                "controller.halved_read_depth",
                "controller.reads_before_program",
                "ftl",
                "sets",
                "gc",
                "predictable_latency",
            ],
        }
    }
}

impl Profile {
    /// Reads a profile. With `base`, the name of a built-in profile, the text says only what differs
    /// from it.
    ///
    /// # Errors
    ///
    /// The text's own mistakes: unknown keys, wrong units or types. Whether the device is possible
    /// is said by [`Profile::validate`].
    pub fn from_toml(text: &str) -> Result<Profile, ProfileErrors> {
        Profile::from_toml_with(text, &[])
    }

    /// As [`Profile::from_toml`], with `settings` in place of what the text says of the same keys.
    ///
    /// # Errors
    ///
    /// As [`Profile::from_toml`].
    pub fn from_toml_with(text: &str, settings: &[Setting]) -> Result<Profile, ProfileErrors> {
        let mut own: toml::Table = text.parse().map_err(|error| syntax(&error))?;
        for setting in settings {
            lay_over(&mut own, setting.table.clone());
        }
        let table = over_base(own)?;
        let kind = kind(&table);
        // Those of another kind would be ignored.
        if let Some(kind) = kind {
            let mut foreign = kind.foreign().iter();
            if let Some(key) = foreign.find(|key| value_of(&table, key).is_some()) {
                let message = format!("does not belong to a device of kind \"{}\"", kind.name());
                return Err(ProfileError::new(*key, message, "remove it, or change kind").into());
            }
        }
        let profile = serde_path_to_error::deserialize(toml::Value::Table(table.clone()))
            .map_err(|error| described(&error.path().to_string(), error.inner().message()))?;
        // Last, for a misspelt section is both unknown and missing, and the first is what helps.
        let mut required = kind.unwrap_or_default().required().iter();
        if let Some(key) = required.find(|key| value_of(&table, key).is_none()) {
            let section = key.split_once('.').map_or(*key, |(section, _)| section);
            let missing = match table.contains_key(section) {
                true => key,
                false => section,
            };
            return Err(
                ProfileError::new(missing, "is missing", "it has no default, add it").into(),
            );
        }
        Ok(profile)
    }

    /// The profile as TOML, every key of its kind of device with its value.
    pub fn to_toml(&self) -> String {
        // Nothing in a profile is beyond TOML: no map with odd keys, no number over 63 bits.
        let mut table = toml::Table::try_from(self).unwrap_or_default();
        for key in self.kind.foreign() {
            match key.split_once('.') {
                None => table.remove(*key),
                Some((section, key)) => table
                    .get_mut(section)
                    .and_then(toml::Value::as_table_mut)
                    .and_then(|section| section.remove(key)),
            };
        }
        toml::to_string(&table).unwrap_or_default()
    }
}

/// The kind of device that a profile says it is; none when it says nothing known.
fn kind(profile: &toml::Table) -> Option<Kind> {
    match profile.get("kind").map(toml::Value::as_str) {
        None | Some(Some("nand")) => Some(Kind::Nand),
        Some(Some("xpoint")) => Some(Kind::Xpoint),
        // Refused as any other wrong value.
        Some(_) => None,
    }
}

/// What the profile says of `key`, which is a section, or a key with or without one.
fn value_of<'a>(profile: &'a toml::Table, key: &str) -> Option<&'a toml::Value> {
    match key.split_once('.') {
        None => profile.get(key),
        Some((section, key)) => profile.get(section)?.as_table()?.get(key),
    }
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

fn syntax(error: &toml::de::Error) -> ProfileErrors {
    let message = format!(
        "is not TOML: {}",
        error.to_string().trim().replace('\n', " ")
    );
    ProfileError::new("(file)", message, "correct the line").into()
}

/// Splits serde's message into what was read and what to do.
fn described(key: &str, message: &str) -> ProfileError {
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let known = rest.split_once(", ").map_or("", |(_, known)| known);
        return ProfileError::new(key, "is not a key of a profile", format!("{known} here"));
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        let (found, known) = rest.split_once(", ").unwrap_or((rest, "use a known name"));
        let found = found.replace('`', "\"");
        return ProfileError::new(key, format!("is {found}, which is unknown"), known);
    }
    match message.split_once("; ") {
        Some((message, remedy)) => ProfileError::new(key, message, remedy),
        None => match message.split_once(", expected ") {
            Some((message, expected)) => {
                ProfileError::new(key, message, format!("write {expected}"))
            }
            None => ProfileError::new(key, message, "correct the value"),
        },
    }
}

/// A key of a profile and its value, such as `ftl.page_allocation=PDWC` or `sets.count=4`.
///
/// The value is read as TOML and, where it is none, as a string: quotes may be left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    text: String,
    /// The key's sections with the one value in them.
    table: toml::Table,
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
