//! Policies: what an FTL decides seldom enough to ask an object.
//!
//! ```text
//!   gc.victim = "d-choices"   --Name--> Policy::make --Box<dyn Victims>--> a log of the FTL, which asks it
//!   [policy.d-choices] d = 5  --Given--^
//! ```
//!
//! A policy is a file with a type, and a line in the list of its kind. One of another crate is registered when the program
//! starts ([`register`]); profiles name it from then on, and everything that runs a profile runs it.
//!
//! A registered policy that panics, or answers what its kind forbids, ends the run: [`PolicyFault`] unwinds from the device to
//! [`caught`], which what runs workloads is in.
//!
//! Stable by semantic versioning: this module and the kinds in it. What a policy is shown may grow: such structs are
//! `#[non_exhaustive]`, and a trait's new methods have a default.

pub mod arbitration;
pub mod cells;
pub mod firmware;
pub(crate) mod guard;
mod options;
pub mod pacing;
pub mod placement;
pub mod victim;
pub mod wear;

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use self::guard::{PolicyFault, caught, fail};
pub use self::options::{Given, OptionError, Options, PolicyOptions};
use crate::words::unknown;

/// A kind of policy: `dyn` of its trait.
pub trait Kind: 'static {
    /// The profile's key that names one.
    const KEY: &'static str;

    /// What one is made for. The default is that of a small device, to check options with.
    type For: Default;

    /// The names of those that a crate beside the model registers, and the call by which it does, for who names one before.
    #[doc(hidden)]
    const BESIDE: (&'static [&'static str], &'static str) = (&[], "");

    /// Those there are.
    #[doc(hidden)]
    fn shelf() -> &'static Shelf<Self>;

    /// The same policy, whose answers are checked.
    #[doc(hidden)]
    fn guarded(policy: Box<Self>, name: &'static str) -> Box<Self>;
}

/// A policy that a profile can name.
pub struct Policy<K: Kind + ?Sized> {
    /// Its name in a profile: small letters, digits and hyphens.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Makes it, with what the profile says of it.
    pub make: Make<K>,
}

/// Makes a policy, or says what is wrong with its options.
pub type Make<K> = fn(&mut Given<'_>, &<K as Kind>::For) -> Result<Box<K>, OptionError>;

/// The policies of a kind.
#[doc(hidden)]
pub struct Shelf<K: Kind + ?Sized> {
    shipped: &'static [Policy<K>],
    registered: Mutex<Vec<&'static Policy<K>>>,
}

impl<K: Kind + ?Sized> Shelf<K> {
    pub(crate) const fn new(shipped: &'static [Policy<K>]) -> Shelf<K> {
        Shelf {
            shipped,
            registered: Mutex::new(Vec::new()),
        }
    }

    fn check_new(&self, name: &str, registered: &[&Policy<K>]) -> Result<(), String> {
        let key = K::KEY;
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(format!(
                "{key}: a policy is named {name:?}; use small letters, digits and hyphens"
            ));
        }
        let mut all = self.shipped.iter().chain(registered.iter().copied());
        match all.any(|policy| policy.name == name) {
            true => Err(format!(
                "{key}: there are two policies named {name:?}; rename one"
            )),
            false => Ok(()),
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
/// Where [`try_register`] refuses.
pub fn register<K: Kind + ?Sized>(policy: Policy<K>) -> Name<K> {
    try_register(policy).unwrap_or_else(|why| panic!("{why}"))
}

/// As [`register`].
///
/// # Errors
///
/// There is one of that name, or the name has other characters than small letters, digits and hyphens.
pub fn try_register<K: Kind + ?Sized>(policy: Policy<K>) -> Result<Name<K>, String> {
    let registered = K::shelf().registered.lock();
    let mut registered = registered.unwrap_or_else(PoisonError::into_inner);
    K::shelf().check_new(policy.name, &registered)?;
    // They live as long as the process; so do profiles that name them.
    let policy: &'static Policy<K> = Box::leak(Box::new(policy));
    registered.push(policy);
    Ok(Name(policy))
}

/// Whether a policy of this kind may be [registered](try_register) under a name.
///
/// # Errors
///
/// As [`try_register`].
pub fn check_new<K: Kind + ?Sized>(name: &str) -> Result<(), String> {
    let registered = K::shelf().registered.lock();
    let registered = registered.unwrap_or_else(PoisonError::into_inner);
    K::shelf().check_new(name, &registered)
}

/// A policy, whatever its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// The profile's key that can name it.
    pub key: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
}

/// The policies of all kinds; of each kind the default first, then those that are shipped, then those that were registered.
pub fn all() -> Vec<Listed> {
    fn of<K: Kind + ?Sized>() -> impl Iterator<Item = Listed> {
        K::shelf().all().into_iter().map(|policy| Listed {
            key: K::KEY,
            name: policy.name,
            about: policy.about,
        })
    }
    let all = of::<dyn victim::Victims>().chain(of::<dyn pacing::Pacing>());
    let all = all.chain(of::<dyn wear::WearLevelling>());
    let all = all.chain(of::<dyn placement::Placement>());
    let all = all.chain(of::<dyn cells::Cells>());
    let all = all.chain(of::<dyn arbitration::Arbitration>());
    all.chain(of::<dyn firmware::Firmware>()).collect()
}

/// The name of a policy that there is.
pub struct Name<K: Kind + ?Sized>(&'static Policy<K>);

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

    /// The one of this name.
    ///
    /// # Panics
    ///
    /// When there is none: for names that the program knows.
    pub fn named(name: &str) -> Name<K> {
        name.parse()
            .unwrap_or_else(|_| panic!("{}: there is no {name:?}", K::KEY))
    }

    /// Makes the policy, with what a profile says of it.
    pub(crate) fn make(self, options: &PolicyOptions, of: &K::For) -> Result<Box<K>, OptionError> {
        let name = self.as_str();
        let mut given = Given::new(name, options);
        let mut shipped = K::shelf().shipped.iter();
        if shipped.any(|shipped| std::ptr::eq(shipped, self.0)) || K::BESIDE.0.contains(&name) {
            let made = (self.0.make)(&mut given, of)?;
            given.finish()?;
            return Ok(made);
        }
        let made = guard::ask::<K, _>(name, "make", || (self.0.make)(&mut given, of))?;
        given.finish()?;
        Ok(K::guarded(made, name))
    }
}

impl<K: Kind + ?Sized> Clone for Name<K> {
    fn clone(&self) -> Name<K> {
        *self
    }
}

impl<K: Kind + ?Sized> Copy for Name<K> {}

impl<K: Kind + ?Sized> PartialEq for Name<K> {
    fn eq(&self, other: &Name<K>) -> bool {
        self.0.name == other.0.name
    }
}

impl<K: Kind + ?Sized> Eq for Name<K> {}

impl<K: Kind + ?Sized> fmt::Debug for Name<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl<K: Kind + ?Sized> fmt::Display for Name<K> {
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
            match K::BESIDE {
                (beside, call) if beside.contains(&text) => {
                    format!(
                        "is {text:?}, which is not registered; the program has to call {call} first"
                    )
                }
                _ => unknown(text, &names),
            }
        })
    }
}

impl<K: Kind + ?Sized> Serialize for Name<K> {
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

/// The policies of a kind that are shipped, one line each: a name, the file that makes it by `make`, what it does. The first is
/// the default.
macro_rules! shelf {
    ($kind:ty, $key:literal, $of:ty: $($name:literal in $file:ident, $about:literal;)*) => {
        $(mod $file;)*

        impl $crate::policy::Kind for $kind {
            const KEY: &'static str = $key;
            type For = $of;

            fn shelf() -> &'static $crate::policy::Shelf<$kind> {
                static SHELF: $crate::policy::Shelf<$kind> = $crate::policy::Shelf::new(&[
                    $($crate::policy::Policy { name: $name, about: $about, make: $file::make },)*
                ]);
                &SHELF
            }

            fn guarded(policy: Box<$kind>, name: &'static str) -> Box<$kind> {
                Box::new($crate::policy::guard::Guarded::new(policy, name))
            }
        }
    };
}
use shelf;
