//! Policies: what an FTL decides seldom enough to ask an object.
//!
//! ```text
//!   gc.victim = "greedy" --Name--> Policy::make --Box<dyn Victims>--> a lane of the FTL, which asks it
//! ```
//!
//! A policy is a file with a type, and a line in the list of its kind. One of another crate is registered when the program
//! starts ([`register`]); profiles name it from then on, and everything that runs a profile runs it.
//!
//! Stable by semantic versioning: this module and [`victim`]. What a policy is shown may grow: such structs are
//! `#[non_exhaustive]`, and a trait's new methods have a default.

mod options;
pub mod victim;

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use self::options::{Given, OptionError, Options};
use crate::words::unknown;

/// A kind of policy: `dyn` of its trait.
pub trait Kind: 'static {
    /// The profile's key that names one.
    const KEY: &'static str;

    /// Those there are.
    #[doc(hidden)]
    fn shelf() -> &'static Shelf<Self>;
}

/// A policy that a profile can name.
pub struct Policy<K: ?Sized> {
    /// Its name in a profile: small letters, digits and hyphens.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Makes it for a lane, with what the profile says of it.
    pub make: Make<K>,
}

/// Makes a policy, or says what is wrong with its options.
pub type Make<K> = fn(&mut Given<'_>) -> Result<Box<K>, OptionError>;

/// The policies of a kind.
#[doc(hidden)]
pub struct Shelf<K: ?Sized + 'static> {
    shipped: &'static [Policy<K>],
    registered: Mutex<Vec<&'static Policy<K>>>,
}

impl<K: Kind + ?Sized> Shelf<K> {
    const fn new(shipped: &'static [Policy<K>]) -> Shelf<K> {
        Shelf {
            shipped,
            registered: Mutex::new(Vec::new()),
        }
    }

    fn all(&self) -> Vec<&'static Policy<K>> {
        let registered = self.registered.lock();
        let registered = registered.unwrap_or_else(PoisonError::into_inner);
        self.shipped
            .iter()
            .chain(registered.iter().copied())
            .collect()
    }
}

/// Adds a policy to those that profiles can name, for the rest of the process: once, before a profile that names it is read.
///
/// # Panics
///
/// When there is one of that name, or the name has other characters than small letters, digits and hyphens.
pub fn register<K: Kind + ?Sized>(policy: Policy<K>) -> Name<K> {
    let name = policy.name;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    assert!(
        !name.is_empty() && name.chars().all(is_plain),
        "{}: a policy is named {name:?}; use small letters, digits and hyphens",
        K::KEY
    );
    let registered = K::shelf().registered.lock();
    let mut registered = registered.unwrap_or_else(PoisonError::into_inner);
    let mut all = K::shelf().shipped.iter().chain(registered.iter().copied());
    assert!(
        all.all(|policy| policy.name != name),
        "{}: there are two policies named {name:?}; rename one",
        K::KEY
    );
    // They live as long as the process; so do profiles that name them.
    let policy: &'static Policy<K> = Box::leak(Box::new(policy));
    registered.push(policy);
    Name(policy)
}

/// The name of a policy that there is.
pub struct Name<K: ?Sized + 'static>(&'static Policy<K>);

impl<K: Kind + ?Sized> Name<K> {
    /// All there are, those that are shipped first.
    pub fn all() -> Vec<Name<K>> {
        K::shelf().all().into_iter().map(Name).collect()
    }

    /// The name as a profile has it.
    pub fn as_str(self) -> &'static str {
        self.0.name
    }

    /// What the policy does, in one line.
    pub fn about(self) -> &'static str {
        self.0.about
    }

    /// Makes the policy for a lane, with what the profile says of it.
    pub(crate) fn make(self, options: &Options, window: u32) -> Result<Box<K>, OptionError> {
        let mut given = Given::new(self.as_str(), options, window);
        let made = (self.0.make)(&mut given)?;
        given.finish()?;
        Ok(made)
    }
}

impl<K: ?Sized> Clone for Name<K> {
    fn clone(&self) -> Name<K> {
        *self
    }
}

impl<K: ?Sized> Copy for Name<K> {}

impl<K: ?Sized> PartialEq for Name<K> {
    fn eq(&self, other: &Name<K>) -> bool {
        self.0.name == other.0.name
    }
}

impl<K: ?Sized> Eq for Name<K> {}

impl<K: ?Sized> fmt::Debug for Name<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl<K: ?Sized> fmt::Display for Name<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.name)
    }
}

impl<K: Kind + ?Sized> Default for Name<K> {
    /// The first that is shipped.
    fn default() -> Name<K> {
        Name(&K::shelf().shipped[0])
    }
}

impl<K: Kind + ?Sized> FromStr for Name<K> {
    type Err = String;

    fn from_str(text: &str) -> Result<Name<K>, String> {
        let all = Name::<K>::all();
        let named = all.iter().find(|name| name.as_str() == text);
        named.copied().ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|name| name.as_str()).collect();
            unknown(text, &names)
        })
    }
}

impl<K: ?Sized> Serialize for Name<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

impl<'de, K: Kind + ?Sized> Deserialize<'de> for Name<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name<K>, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// The policies of a kind that are shipped, one line each: a name, what makes it, what it does.
macro_rules! shelf {
    ($kind:ty, $key:literal: $($name:literal => $make:path, $about:literal;)*) => {
        impl $crate::policy::Kind for $kind {
            const KEY: &'static str = $key;

            fn shelf() -> &'static $crate::policy::Shelf<$kind> {
                static SHELF: $crate::policy::Shelf<$kind> = $crate::policy::Shelf::new(&[
                    $($crate::policy::Policy { name: $name, about: $about, make: $make },)*
                ]);
                &SHELF
            }
        }
    };
}
use shelf;
