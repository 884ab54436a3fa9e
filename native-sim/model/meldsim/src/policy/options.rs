//! What a profile says of the policy that it names: `[policy.NAME]`.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// Options by name, as they are written.
pub type Options = BTreeMap<String, Value>;

/// The options of policies, by their names: the sections `[policy.NAME]`. Those of policies that the profile does not name
/// wait there until it does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PolicyOptions(BTreeMap<String, Options>);

/// A number, a text, or true or false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value(String);

impl PolicyOptions {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The policies that have some.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Those of a policy; none where it has none.
    pub fn of(&self, policy: &str) -> Option<&Options> {
        self.0.get(policy)
    }

    /// Takes those of a policy out.
    pub fn remove(&mut self, policy: &str) {
        self.0.remove(policy);
    }

    /// Sets one of a policy.
    pub fn set(&mut self, policy: &str, name: &str, value: impl Display) {
        let options = self.0.entry(policy.to_owned()).or_default();
        options.insert(name.to_owned(), Value(value.to_string()));
    }
}

/// What a profile gives the policy that it names. Options that the policy does not ask for are refused.
#[derive(Debug)]
pub struct Given<'a> {
    options: Option<&'a Options>,
    policy: &'static str,
    known: Vec<&'static str>,
    takes_all: bool,
}

impl<'a> Given<'a> {
    pub(super) fn new(policy: &'static str, options: &'a PolicyOptions) -> Given<'a> {
        Given {
            options: options.0.get(policy),
            policy,
            known: Vec::new(),
            takes_all: false,
        }
    }

    /// The value of an option: a number in a range, or the default.
    ///
    /// # Errors
    ///
    /// What is no such number, or out of range.
    pub fn number<T: FromStr + PartialOrd + Display>(
        &mut self,
        name: &'static str,
        default: T,
        range: RangeInclusive<T>,
    ) -> Result<T, OptionError> {
        self.known.push(name);
        let Some(Value(text)) = self.options.and_then(|all| all.get(name)) else {
            return Ok(default);
        };
        let read = text.parse().ok().filter(|value| range.contains(value));
        read.ok_or_else(|| OptionError {
            key: format!("policy.{}.{name}", self.policy),
            message: format!("is {text}"),
            remedy: format!("use {} to {}", range.start(), range.end()),
        })
    }

    /// The policy's name.
    pub fn policy(&self) -> &'static str {
        self.policy
    }

    /// All that is given, as an object of JSON: for a policy that checks its options itself.
    pub fn json(&mut self) -> String {
        self.takes_all = true;
        let all = self.options.map(serde_json::to_string);
        all.and_then(Result::ok).unwrap_or_else(|| "{}".to_owned())
    }

    pub(super) fn finish(self) -> Result<(), OptionError> {
        let mut names = self.options.into_iter().flat_map(|all| all.keys());
        let is_strange = |name: &&String| !self.takes_all && !self.known.contains(&name.as_str());
        let Some(strange) = names.find(is_strange) else {
            return Ok(());
        };
        Err(OptionError {
            key: format!("policy.{}.{strange}", self.policy),
            message: format!("is no option of {}", self.policy),
            remedy: match self.known.is_empty() {
                true => "it has none; remove this key".to_owned(),
                false => format!("its options are: {}", self.known.join(", ")),
            },
        })
    }
}

/// An option that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: {message}; {remedy}")]
pub struct OptionError {
    /// Its key: `policy.d-choices.d`.
    pub key: String,
    /// What was found: `is 0`.
    pub message: String,
    /// What to do: `use 1 to 100`.
    pub remedy: String,
}

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.0.parse::<i64>(), self.0.parse::<f64>(), self.0.parse()) {
            (Ok(integer), _, _) => serializer.serialize_i64(integer),
            (_, Ok(number), _) => serializer.serialize_f64(number),
            (_, _, Ok(truth)) => serializer.serialize_bool(truth),
            _ => serializer.serialize_str(&self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        struct Visitor;

        impl serde::de::Visitor<'_> for Visitor {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a text, true or false")
            }

            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(Value(value.to_string()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(Value(value.to_string()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
                Ok(Value(value.to_string()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Value(value.to_string()))
            }

            fn visit_str<E>(self, value: &str) -> Result<Value, E> {
                Ok(Value(value.to_owned()))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}
