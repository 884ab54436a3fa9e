//! Claims: what a source says of a device, and whether the simulated one does the same.

use serde::{Serialize, Serializer};

/// Where the number of a claim comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A published number or finding.
    Published,
    /// Fitted to published cells.
    Fitted,
    /// An assumption of ours, or extrapolated from one.
    Assumption,
}

impl Basis {
    /// The tag that profiles and documents use: `P`, `F` or `A`.
    pub const fn tag(self) -> &'static str {
        match self {
            Basis::Published => "P",
            Basis::Fitted => "F",
            Basis::Assumption => "A",
        }
    }
}

impl Serialize for Basis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.tag())
    }
}

/// One claim, with the value that was published and the one measured on the simulated device.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// Stable name, `experiment.claim`.
    pub id: &'static str,
    /// Section of the device model that it belongs to.
    pub section: u32,
    /// Where its number comes from.
    pub basis: Basis,
    /// What is claimed.
    pub statement: String,
    /// The published (or assumed) value.
    pub published: String,
    /// The simulated value.
    pub measured: String,
    /// When it counts as holding.
    pub criterion: String,
    /// Whether it holds.
    pub holds: bool,
    /// The command that shows it.
    pub command: String,
}

impl Claim {
    /// A claim on the experiment that its name begins with. `says`: what is claimed, and the published value.
    pub(super) fn new(
        section: u32,
        basis: Basis,
        id: &'static str,
        says: (&str, &str),
        measured: String,
        criterion: String,
        holds: bool,
    ) -> Claim {
        let experiment = id.split_once('.').map_or(id, |(experiment, _)| experiment);
        Claim {
            id,
            section,
            basis,
            statement: says.0.to_owned(),
            published: says.1.to_owned(),
            measured,
            criterion,
            holds,
            command: format!("meldsim experiment {experiment}"),
        }
    }

    /// What [`Claim::published`] is: only [`Basis::Published`] is published.
    pub fn expectation(&self) -> &'static str {
        match self.basis {
            Basis::Published => "published",
            Basis::Fitted | Basis::Assumption => "expected",
        }
    }

    /// `holds` or `DOES NOT HOLD`.
    pub fn verdict(&self) -> &'static str {
        if self.holds { "holds" } else { "DOES NOT HOLD" }
    }
}
