//! Changes of a device: those under which claims fail, and those of each constant that is not published.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};
use thiserror::Error;

use meldsim::profile::{Profile, ProfileErrors, Setting};

/// A change of one built-in device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A constant by so many percent; of a list, each value.
    Percent {
        /// The built-in profile.
        device: &'static str,
        /// Its key.
        key: Cow<'static, str>,
        /// By how much, in percent of what it is.
        percent: i32,
    },
    /// A mechanism off, or another one on.
    Set {
        /// The built-in profile.
        device: &'static str,
        /// Keys and their values, as `--set` takes them.
        settings: &'static [&'static str],
    },
}

/// Why a change is none.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The key is not there, or has no number.
    #[error("{0}: has no number to be changed")]
    NoNumber(String),
    /// A fifth of a small whole number is nothing.
    #[error("{0}: is the same when it is rounded")]
    TooSmall(String),
    /// There is no such device.
    #[error(transparent)]
    Profile(#[from] ProfileErrors),
    /// A setting is none.
    #[error("{0}")]
    Setting(String),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Percent {
                device,
                key,
                percent,
            } => write!(f, "{device}: {key} {percent:+} %"),
            Change::Set { device, settings } => write!(f, "{device}: {}", settings.join(", ")),
        }
    }
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Change {
    /// A constant of a built-in profile by so many percent.
    pub const fn percent(device: &'static str, key: &'static str, percent: i32) -> Change {
        Change::Percent {
            device,
            key: Cow::Borrowed(key),
            percent,
        }
    }

    /// Keys of a built-in profile with other values.
    pub const fn set(device: &'static str, settings: &'static [&'static str]) -> Change {
        Change::Set { device, settings }
    }

    /// The profile that is changed.
    pub fn device(&self) -> &'static str {
        match self {
            Change::Percent { device, .. } | Change::Set { device, .. } => device,
        }
    }

    /// The values that the changed keys have then. So it does not matter how often the change is made.
    fn settings(&self) -> Result<Vec<Setting>, ChangeError> {
        let setting = |text: &str| text.parse().map_err(ChangeError::Setting);
        match self {
            Change::Set { settings, .. } => settings.iter().map(|text| setting(text)).collect(),
            Change::Percent {
                device,
                key,
                percent,
            } => {
                let constant = constants(device).into_iter().find(|c| c.key == **key);
                let value = constant.map(|constant| constant.value);
                let value = value.ok_or_else(|| ChangeError::NoNumber(key.to_string()))?;
                let changed = scaled(value, 1.0 + f64::from(*percent) / 100.0);
                let changed = changed.ok_or_else(|| ChangeError::NoNumber(key.to_string()))?;
                match changed == value {
                    true => Err(ChangeError::TooSmall(key.to_string())),
                    false => Ok(vec![setting(&format!("{key}={changed}"))?]),
                }
            }
        }
    }

    /// The profile with the change, if it is of that device, else as it is.
    pub(crate) fn made(&self, profile: &Profile) -> Result<Profile, ChangeError> {
        if profile.name != self.device() {
            return Ok(profile.clone());
        }
        let changed = Profile::from_toml_with(&profile.to_toml(), &self.settings()?)?;
        changed.validate()?;
        Ok(changed)
    }
}

/// A key of a built-in profile, as it is written there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Constant {
    /// With its sections.
    pub key: String,
    /// As TOML.
    pub value: &'static str,
    /// Where it comes from: `P`, `F` or `A`.
    pub tag: char,
}

/// The keys of a built-in profile whose numbers have a tag; none of an unknown profile.
pub fn constants(device: &str) -> Vec<Constant> {
    let (mut section, mut constants) = (String::new(), Vec::new());
    for line in Profile::builtin_text(device).unwrap_or_default().lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            section = format!("{name}.");
        }
        let constant = || {
            let (setting, comment) = line.split_once('#')?;
            let (key, value) = setting.split_once('=')?;
            let tag = comment.split_once('[')?.1.chars().next()?;
            Some(Constant {
                key: format!("{section}{}", key.trim()),
                value: value.trim(),
                tag,
            })
        };
        let has_number = |constant: &Constant| scaled(constant.value, 1.0).is_some();
        constants.extend(constant().filter(has_number));
    }
    constants
}

/// Each number of a value of TOML times a factor, rounded to what its unit can be a part of; none if there is no number.
fn scaled(value: &str, factor: f64) -> Option<String> {
    let is_quantity = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let list = value.strip_prefix('[').and_then(|v| v.strip_suffix(']'));
    if let Some(list) = list {
        let items: Option<Vec<String>> = list
            .split(',')
            .map(|item| scaled(item.trim(), factor))
            .collect();
        return Some(format!("[{}]", items?.join(", ")));
    }
    let quoted = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
    let text = quoted.unwrap_or(value);
    if !is_quantity(text) {
        return None;
    }
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(split.unwrap_or(text.len()));
    let product = number.parse::<f64>().ok()? * factor;
    let kib = |kib: f64| format!("{}KiB", (kib / 4.0).round() * 4.0);
    let changed = match unit {
        // Counts and transfer rates are whole; sizes are of whole small pages.
        "" => format!("{}", product.round()),
        "MT/s" => format!("{}MT/s", product.round()),
        "KiB" => kib(product),
        "MiB" => kib(product * 1024.0),
        "GiB" => kib(product * 1024.0 * 1024.0),
        unit => format!("{}{unit}", (product * 1000.0).round() / 1000.0),
    };
    Some(match quoted {
        Some(_) => format!("\"{changed}\""),
        None => changed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::Duration;

    #[test]
    fn constants_are_read_with_their_tags() {
        let all = constants("melded-tlc-8x8");
        let find = |key: &str| all.iter().find(|constant| constant.key == key).cloned();
        let bytes = find("bus.bytes_per_4kib").unwrap();
        assert_eq!((bytes.value, bytes.tag), ("4625", 'F'));
        assert_eq!(find("timing.read").unwrap().tag, 'P');
        assert_eq!(find("ftl.page_allocation"), None, "it has no number");
        assert_eq!(constants("no-such-device"), []);
    }

    #[test]
    fn numbers_keep_their_units() {
        for (value, expected) in [
            ("\"58us\"", Some("\"69.6us\"")),
            ("[\"58us\", \"78us\"]", Some("[\"69.6us\", \"93.6us\"]")),
            ("10", Some("12")),
            ("2", Some("2")),
            ("\"333MT/s\"", Some("\"400MT/s\"")),
            ("\"32MiB\"", Some("\"39320KiB\"")),
            ("\"2.35GB/s\"", Some("\"2.82GB/s\"")),
            ("\"CWDP\"", None),
            ("true", None),
        ] {
            assert_eq!(scaled(value, 1.2).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn a_change_is_made_once_however_often_it_is_asked_for() {
        let change = Change::percent("melded-tlc-8x8", "timing.melded_read", 25);
        let profile = Profile::builtin("melded-tlc-8x8").unwrap();
        let once = change.made(&profile).unwrap();
        assert_eq!(once.timing.melded_read, Some(Duration::from_ns(207_500)));
        assert_eq!(change.made(&once).unwrap(), once);
        assert_eq!(
            change.to_string(),
            "melded-tlc-8x8: timing.melded_read +25 %"
        );
        let other = Profile::builtin("optane-900p").unwrap();
        assert_eq!(change.made(&other).unwrap(), other);
    }

    #[test]
    fn what_cannot_be_changed_says_so() {
        let made = |key: &'static str, percent| {
            let profile = Profile::builtin("melded-tlc-8x8").unwrap();
            let change = Change::percent("melded-tlc-8x8", key, percent);
            change.made(&profile).unwrap_err().to_string()
        };
        assert!(made("geometry.planes_per_die", 20).contains("is the same"));
        assert!(made("gc.victim", 20).contains("no number"));
        assert!(made("geometry.page_size", 200).contains("power of two"));
    }
}
