//! What is wrong with a profile, and the one way in which keys are declared and checked.

use std::fmt::{self, Display};
use std::ops::RangeInclusive;

use thiserror::Error;

use super::units::ByteSize;

/// One thing wrong with a profile: the key, what was read, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: {message}; {remedy}")]
#[non_exhaustive]
pub struct ProfileError {
    /// The key with its section: `geometry.channels`.
    pub key: String,
    /// What was found: `is 0`.
    pub message: String,
    /// What to do: `must be at least 1`.
    pub remedy: String,
}

impl ProfileError {
    pub(crate) fn new(
        key: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ProfileError {
        ProfileError {
            key: key.into(),
            message: shortened(&message.into()),
            remedy: remedy.into(),
        }
    }
}

/// Everything wrong with a profile, one per line when displayed; of very much, the first lines.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct ProfileErrors(pub Vec<ProfileError>);

/// Writes mistakes, one per line, each after `indent`. Of very many the first, and how many more there are: then the file is
/// seldom a profile or a job file at all.
///
/// # Errors
///
/// Those of `out`.
pub fn list_mistakes<E: Display>(
    out: &mut dyn fmt::Write,
    indent: &str,
    mistakes: &[E],
) -> fmt::Result {
    const MOST: usize = 20;
    for (index, mistake) in mistakes.iter().take(MOST).enumerate() {
        let separator = if index == 0 { "" } else { "\n" };
        write!(out, "{separator}{indent}{mistake}")?;
    }
    match mistakes.len().saturating_sub(MOST) {
        0 => Ok(()),
        more => write!(
            out,
            "\n{indent}and {more} more; make sure that this is the right file"
        ),
    }
}

/// The beginning of a text, to be shown in a message.
pub fn excerpt(text: &str) -> String {
    const CHARS: usize = 40;
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// A message with the beginnings of the long values that it quotes: what people write may be of any length.
pub fn shortened(message: &str) -> String {
    const BYTES: usize = 200;
    let last = message.matches('"').count();
    let parts = message.split('"').enumerate();
    // What stands before the first quote and after the last is no value.
    let parts = parts.map(
        |(index, part)| match part.len() > BYTES && (1..last).contains(&index) {
            true => excerpt(part),
            false => part.to_owned(),
        },
    );
    parts.collect::<Vec<_>>().join("\"")
}

impl Display for ProfileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list_mistakes(f, "", &self.0)
    }
}

impl From<ProfileError> for ProfileErrors {
    fn from(error: ProfileError) -> ProfileErrors {
        ProfileErrors(vec![error])
    }
}

/// Whether two keys are the same, or one is a section or a list with the other in it.
pub(super) fn overlap(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let rest = long.strip_prefix(short);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Declares a section of a profile: each key with its type, its default and, where it has one, the
/// range of its values. Gives the struct, its `Default` and `check_ranges`.
macro_rules! section {
    (
        $(#[$meta:meta])*
        $name:ident = $section:literal {
            $($(#[$doc:meta])* $key:ident: $type:ty = $default:expr $(, $range:expr)?;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $($(#[$doc])* pub $key: $type,)*
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $($key: $default,)* }
            }
        }

        impl $name {
            /// Refuses every key whose value is out of its range.
            pub(super) fn check_ranges(&self, checker: &mut Checker) {
                $($(checker.range(concat!($section, ".", stringify!($key)), &self.$key, $range);)?)*
            }
        }
    };
}
pub(super) use section;

/// Declares an enum whose variants have names in a profile.
macro_rules! names {
    ($(#[$meta:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $type {
            $($(#[$doc])* $variant,)*
        }

        impl $type {
            const ALL: &[$type] = &[$($type::$variant),*];

            /// As it is written in a profile.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)* }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<$type, String> {
                match text {
                    $($name => Ok($type::$variant),)*
                    _ => Err($crate::words::unknown(text, &[$($name),*])),
                }
            }
        }

        $crate::profile::units::as_text!(
            $type,
            |number| $type::ALL.get(number as usize).copied().ok_or_else(|| format!("is {number}")),
            |value: &$type| *value as u64
        );
    };
}
pub(super) use names;

/// Collects errors.
#[derive(Default)]
pub(super) struct Checker {
    pub(super) errors: Vec<ProfileError>,
    /// Keys that are known to be wrong: they are refused no more, and their values mean nothing.
    unread: Vec<String>,
    /// Errors that were there before.
    before: usize,
}

impl Checker {
    /// After a text was read with these errors, and without the values of these keys.
    #[cfg(feature = "toml")]
    pub(super) fn after(errors: Vec<ProfileError>, unread: Vec<String>) -> Checker {
        Checker {
            before: errors.len(),
            errors,
            unread,
        }
    }

    pub(super) fn refuse(
        &mut self,
        key: &str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        if !self.unread.iter().any(|unread| overlap(unread, key)) {
            self.errors.push(ProfileError::new(key, message, remedy));
        }
    }

    /// Whether nothing is wrong with any of these keys and sections, so that they can be compared.
    pub(super) fn are_sound(&self, keys: &[&str]) -> bool {
        let found = self.errors[self.before..].iter().map(|error| &error.key);
        let mut wrong = self.unread.iter().chain(found);
        !wrong.any(|wrong| keys.iter().any(|key| overlap(wrong, key)))
    }

    pub(super) fn range<T: PartialOrd + Display>(
        &mut self,
        key: &str,
        value: &T,
        range: RangeInclusive<T>,
    ) {
        if range.contains(value) {
            return;
        }
        let remedy = if value < range.start() {
            format!("must be at least {}", range.start())
        } else {
            format!("must be at most {}", range.end())
        };
        self.refuse(key, format!("is {value}"), remedy);
    }

    pub(super) fn power_of_two(&mut self, key: &str, size: ByteSize) {
        let range = ByteSize(512)..=ByteSize(64 << 10);
        if range.contains(&size) && !size.0.is_power_of_two() {
            self.refuse(key, format!("is {size}"), "must be a power of two");
        } else {
            self.range(key, &size, range);
        }
    }
}
