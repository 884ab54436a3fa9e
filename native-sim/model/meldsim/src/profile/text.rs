//! Profiles from and to TOML, and single keys said apart from the text.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use toml::{Table, Value};

use super::builtin::{lay_over, over_base};
use super::check::{Checker, ProfileError, ProfileErrors, excerpt, overlap};
use super::{ByteSize, Kind, Profile};
use crate::engine::Duration;
use crate::words::nearest;

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

/// Keys that mean something by not being there. One that is inherited goes with the value `none`.
const OPTIONAL: &[&str] = &[
    "timing.melded_read",
    "timing.program_pages",
    "host.path_submit_time",
    "host.path_completion_time",
];
const NONE: &str = "none";

/// A section whose keys are those of the policy that the profile names.
const OPTIONS: &str = "policy";

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
                "controller.capacity",
                "controller.write_buffer",
                "controller.write_cache",
                "controller.flush",
                "controller.dram_rate",
                "controller.read_segment",
                "controller.halved_read_depth",
                "controller.reads_before_program",
                "ftl",
                "fdp",
                "zones",
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
    /// The text's own mistakes: unknown and missing keys, wrong units or types. With them comes what
    /// is impossible among the keys that could be read. Of a text without mistakes,
    /// [`Profile::validate`] says whether the device is possible.
    pub fn from_toml(text: &str) -> Result<Profile, ProfileErrors> {
        Profile::from_toml_with(text, &[])
    }

    /// As [`Profile::from_toml`], with `settings` in place of what the text says of the same keys.
    ///
    /// # Errors
    ///
    /// As [`Profile::from_toml`].
    pub fn from_toml_with(text: &str, settings: &[Setting]) -> Result<Profile, ProfileErrors> {
        let mut own: Table = text.parse().map_err(|error| syntax(&error))?;
        for setting in settings {
            lay_over(&mut own, setting.table.clone());
        }
        let (mut table, wrong_base) = over_base(own);
        for key in OPTIONAL {
            if value_of(&table, key).and_then(Value::as_str) == Some(NONE) {
                remove(&mut table, &[key]);
            }
        }
        let kind = kind(&table).filter(|_| wrong_base.is_none());
        let has = |key: &&str| value_of(&table, key).is_some();
        let is_whole = kind
            .is_some_and(|kind| kind.required().iter().all(has) && !kind.foreign().iter().any(has))
            // To serde, a section may be the list of its values.
            && !table.values().any(Value::is_array);
        match deserialize(&table) {
            Ok(profile) if is_whole => Ok(profile),
            _ => Err(Mistakes::of(&table, kind, wrong_base)),
        }
    }

    /// The profile as TOML, every key of its kind of device with its value.
    pub fn to_toml(&self) -> String {
        // Nothing in a profile is beyond TOML: no map with odd keys, no number over 63 bits.
        let mut table = Table::try_from(self).unwrap_or_default();
        remove(&mut table, self.kind.foreign());
        toml::to_string(&table).unwrap_or_default()
    }
}

/// The kind of device that a profile says it is; none when it says nothing known.
fn kind(profile: &Table) -> Option<Kind> {
    match profile.get("kind") {
        None => Some(Kind::default()),
        // Refused as any other wrong value.
        Some(kind) => kind.as_str()?.parse().ok(),
    }
}

/// What the profile says of `key`, which is a section, or a key with or without one.
fn value_of<'a>(profile: &'a Table, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        None => profile.get(key),
        Some((section, key)) => profile.get(section)?.as_table()?.get(key),
    }
}

/// Takes sections, and keys of sections, out of a profile.
fn remove(profile: &mut Table, keys: &[&str]) {
    for key in keys {
        match key.split_once('.') {
            None => profile.remove(*key),
            Some((section, key)) => profile
                .get_mut(section)
                .and_then(Value::as_table_mut)
                .and_then(|section| section.remove(key)),
        };
    }
}

/// A profile that says nothing but `key = value`, where the key has its sections.
fn only(key: &str, mut value: Value) -> Table {
    let (sections, name) = key.rsplit_once('.').unwrap_or(("", key));
    let mut table = Table::new();
    table.insert(name.to_owned(), value);
    for section in sections.rsplit('.').filter(|section| !section.is_empty()) {
        value = Value::Table(std::mem::take(&mut table));
        table.insert(section.to_owned(), value);
    }
    table
}

/// The profile that a table with known keys describes, or why it describes none.
fn deserialize(table: &Table) -> Result<Profile, String> {
    let table = Value::Table(table.clone());
    Profile::deserialize(table).map_err(|error: toml::de::Error| error.message().to_owned())
}

fn syntax(error: &toml::de::Error) -> ProfileErrors {
    // It has the line.
    let text = error.to_string().trim().replace('\n', " ");
    let message = match text.len() > 1000 {
        true => format!("is not TOML: {}", error.message()),
        false => format!("is not TOML: {text}"),
    };
    ProfileError::new("(file)", message, "correct the line").into()
}

/// Reads a text that is no profile, key by key, for all that is wrong with it.
struct Mistakes {
    /// Sections, and keys of sections, that only a device of the other kind has.
    foreign: &'static [&'static str],
    /// What refuses them.
    kind: &'static str,
    found: Vec<ProfileError>,
    /// Keys without a value that means something.
    unread: Vec<String>,
}

impl Mistakes {
    fn of(table: &Table, kind: Option<Kind>, base: Option<ProfileError>) -> ProfileErrors {
        let mut mistakes = Mistakes {
            foreign: kind.map_or(&[], Kind::foreign),
            kind: kind.map_or("", Kind::name),
            found: base.into_iter().collect(),
            unread: Vec::new(),
        };
        let known = known_keys(mistakes.foreign);
        let good = mistakes.read("", table, &known);
        if let Some(kind) = kind {
            mistakes.require(kind, &good);
            let mut checker = Checker::after(mistakes.found, mistakes.unread);
            deserialize(&good).unwrap_or_default().check(&mut checker);
            return ProfileErrors(checker.errors);
        }
        ProfileErrors(mistakes.found)
    }

    fn refuse(&mut self, key: &str, message: impl Into<String>, remedy: impl Into<String>) {
        self.found.push(ProfileError::new(key, message, remedy));
    }

    /// The keys of a section that can be read. A misspelt one is read as the one that was meant, so
    /// that its value is checked as well.
    fn read(&mut self, section: &str, table: &Table, known: &Table) -> Table {
        let path = |name: &str| match section {
            "" => name.to_owned(),
            section => format!("{section}.{name}"),
        };
        let mut good = Table::new();
        for (name, value) in table {
            if self.foreign.contains(&path(name).as_str()) {
                let message = format!("does not belong to a device of kind \"{}\"", self.kind);
                self.refuse(&path(name), message, "remove it, or change kind");
                continue;
            }
            let mut name = name.as_str();
            if !known.contains_key(name) {
                let unknown = path(name);
                let message = "is not a key of a profile";
                let Some(meant) = nearest(name, known.keys().map(String::as_str)) else {
                    let keys: Vec<&str> = known.keys().map(String::as_str).collect();
                    // A key may be of a section that is not said.
                    let is_of = |section: &&&str| known[**section].get(name).is_some();
                    let remedy = match keys.iter().find(is_of) {
                        Some(section) => format!("did you mean {}?", path(section) + "." + name),
                        None => format!("use one of {}", keys.join(", ")),
                    };
                    self.refuse(&unknown, message, remedy);
                    continue;
                };
                self.refuse(&unknown, message, format!("did you mean {}?", path(meant)));
                if table.contains_key(meant) || good.contains_key(meant) {
                    continue;
                }
                name = meant;
            }
            let key = path(name);
            match (&known[name], value) {
                (_, Value::Table(sections)) if key == OPTIONS => {
                    let sections = self.read_options(sections);
                    good.insert(name.to_owned(), Value::Table(sections));
                }
                (Value::Table(known), Value::Table(values)) => {
                    let values = self.read(&key, values, known);
                    good.insert(name.to_owned(), Value::Table(values));
                }
                (Value::Table(_), _) if !value.is_table() => {
                    self.refuse(&key, is(value), format!("make it a section: [{key}]"));
                    self.unread.push(key);
                }
                (example, _) if self.can_be_read(&key, value, example) => {
                    good.insert(name.to_owned(), value.clone());
                }
                _ => self.unread.push(key),
            }
        }
        good
    }

    /// The options of policies that can be read: numbers, texts, true or false.
    fn read_options(&mut self, sections: &Table) -> Table {
        let mut good = Table::new();
        for (policy, value) in sections {
            let key = format!("{OPTIONS}.{policy}");
            let Some(options) = value.as_table() else {
                self.refuse(&key, is(value), format!("make it a section: [{key}]"));
                continue;
            };
            let mut read = Table::new();
            for (option, value) in options {
                match value {
                    Value::Table(_) | Value::Array(_) | Value::Datetime(_) => {
                        let remedy = "write a number, a text, true or false";
                        self.refuse(&format!("{key}.{option}"), is(value), remedy);
                    }
                    _ => {
                        read.insert(option.clone(), value.clone());
                    }
                }
            }
            good.insert(policy.clone(), Value::Table(read));
        }
        good
    }

    /// Whether the key can have the value; a list is read one by one.
    fn can_be_read(&mut self, key: &str, value: &Value, example: &Value) -> bool {
        let before = self.found.len();
        let mut read = |place: &str, value: &Value, example: &Value, wrap: fn(Value) -> Value| {
            let refusal = |value| deserialize(&only(key, wrap(value))).err();
            let Some(said) = refusal(value.clone()) else {
                return;
            };
            // The words of its type, which are of texts. A number may be a quantity without its unit.
            let said = match (example, value) {
                (Value::String(_), Value::String(_)) => Some(said),
                (Value::String(_), Value::Integer(_) | Value::Float(_)) => {
                    refusal(Value::String(value.to_string()))
                }
                _ => None,
            };
            self.found
                .push(described(place, value, said.as_deref(), example));
        };
        match (value, example) {
            (Value::Array(items), Value::Array(examples)) => {
                for (index, item) in items.iter().enumerate() {
                    let example = examples.first().unwrap_or(example);
                    read(&format!("{key}[{index}]"), item, example, |item| {
                        Value::Array(vec![item])
                    });
                }
            }
            _ => read(key, value, example, |value| value),
        }
        self.found.len() == before
    }

    /// Refuses that keys without a default are not there; those that cannot be read have been refused.
    fn require(&mut self, kind: Kind, good: &Table) {
        for key in kind.required() {
            let section = key.split_once('.').map_or(*key, |(section, _)| section);
            let key = match good.contains_key(section) {
                true => key,
                false => section,
            };
            let is_refused = self.unread.iter().any(|unread| overlap(unread, key));
            if value_of(good, key).is_none() && !is_refused {
                self.refuse(key, "is missing", "it has no default, add it");
                self.unread.push(key.to_owned());
            }
        }
    }
}

/// Every key but these, each with a value that it could have.
fn known_keys(foreign: &[&str]) -> Table {
    let mut whole = Profile::default();
    whole.timing.program_pages = Some(vec![Duration::from_us(500)]);
    whole.policy.set("d-choices", "d", 10);
    // Zones are left out where there are none.
    whole.zones.size = ByteSize(1 << 30);
    whole.host.path_submit_time = Some(Duration::from_us(2));
    whole.host.path_completion_time = Some(Duration::from_us(4));
    let mut known = Table::try_from(whole).unwrap_or_default();
    let example = Profile::builtin_text("melded-tlc-8x8").unwrap_or_default();
    lay_over(&mut known, example.parse().unwrap_or_default());
    remove(&mut known, foreign);
    known
}

/// What is wrong with a value, of which its key's type may have said this.
fn described(key: &str, value: &Value, said: Option<&str>, example: &Value) -> ProfileError {
    if let Some((message, remedy)) = said.and_then(|said| said.rsplit_once("; ")) {
        return ProfileError::new(key, message, remedy);
    }
    let what = match example {
        Value::Integer(_) => "a whole number",
        Value::Boolean(_) => "true or false",
        Value::Array(_) => "a list",
        Value::Table(_) => "a number, a text, true or false of each",
        _ => "text in quotes",
    };
    ProfileError::new(key, is(value), format!("write {what}, such as {example}"))
}

/// What was found, on one line and not too long.
fn is(value: &Value) -> String {
    format!("is {}", excerpt(&value.to_string().replace('\n', " ")))
}

/// A key of a profile and its value, such as `ftl.page_allocation=PDWC` or `sets.count=4`.
///
/// The value is read as TOML and, where it is none, as a string: quotes may be left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    text: String,
    /// The key's sections with the one value in them.
    table: Table,
}

impl Setting {
    /// The key with its sections.
    pub fn key(&self) -> String {
        let key = self.text.split_once('=').map_or("", |(key, _)| key);
        key.trim().to_owned()
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        let (key, value) = (key.trim(), value.trim());
        let named = |part: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            !part.is_empty() && part.chars().all(plain)
        };
        if value.is_empty() || !key.split('.').all(named) {
            return Err(format!(
                "is \"{text}\", which is no setting; write KEY=VALUE, such as ftl.page_allocation=PDWC"
            ));
        }
        let table = only(key, toml_value(value));
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

fn toml_value(text: &str) -> Value {
    const KEY: &str = "value";
    let read = format!("{KEY} = {text}").parse::<Table>().ok();
    read.filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove(KEY))
        .unwrap_or_else(|| Value::String(text.to_owned()))
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
            ("zones.wrong=3", "zones.wrong: is not a key"),
            ("channels=3", "did you mean geometry.channels?"),
            ("wrong=3", "fdp, zones, sets"),
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
