//! Claims: what a source says of a device, and whether the simulated one does the same.

use serde::{Serialize, Serializer};

use crate::report::{Align, Table};

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
#[non_exhaustive]
pub struct Claim {
    /// Stable name, `experiment.claim`.
    pub id: &'static str,
    /// The paper of the device, and of the claim when it is published.
    pub paper: &'static str,
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

/// A claim begins with its basis and its id, and is then filled in.
impl Claim {
    pub(super) fn published(id: &'static str) -> Claim {
        Claim::new(Basis::Published, id)
    }

    pub(super) fn fitted(id: &'static str) -> Claim {
        Claim::new(Basis::Fitted, id)
    }

    pub(super) fn assumed(id: &'static str) -> Claim {
        Claim::new(Basis::Assumption, id)
    }

    fn new(basis: Basis, id: &'static str) -> Claim {
        let experiment = id.split_once('.').map_or(id, |(experiment, _)| experiment);
        Claim {
            id,
            paper: "",
            basis,
            statement: String::new(),
            published: String::new(),
            measured: String::new(),
            criterion: String::new(),
            holds: false,
            command: format!("meldsim experiment {experiment}"),
        }
    }

    /// What is claimed.
    pub(super) fn statement(mut self, statement: impl Into<String>) -> Claim {
        self.statement = statement.into();
        self
    }

    /// The published value, or the one that is assumed.
    pub(super) fn expected(mut self, expected: impl Into<String>) -> Claim {
        self.published = expected.into();
        self
    }

    /// The simulated value.
    pub(super) fn measured(mut self, measured: impl Into<String>) -> Claim {
        self.measured = measured.into();
        self
    }

    /// When it counts as holding, and whether it does.
    pub(super) fn holds(mut self, criterion: impl Into<String>, holds: bool) -> Claim {
        self.criterion = criterion.into();
        self.holds = holds;
        self
    }

    /// The claim as a line of text.
    pub(super) fn to_text(&self) -> String {
        // Only what is published is called so.
        let expectation = match self.basis {
            Basis::Published => "published",
            Basis::Fitted | Basis::Assumption => "expected",
        };
        format!(
            "{}: [{}] {}: {} {expectation}, {} simulated (holds when {})\n",
            self.verdict(),
            self.basis.tag(),
            self.statement,
            self.published,
            self.measured,
            self.criterion
        )
    }

    fn verdict(&self) -> &'static str {
        if self.holds { "holds" } else { "DOES NOT HOLD" }
    }
}

/// Claims with their verdicts, one a line.
pub fn claims_table<'a>(claims: impl IntoIterator<Item = &'a Claim>) -> Table {
    let columns = [
        "verdict",
        "",
        "claim",
        "published or expected",
        "simulated",
        "holds when",
    ];
    let mut table = Table::new(columns.map(|name| (name, Align::Left)));
    for claim in claims {
        table.row([
            claim.verdict(),
            &format!("[{}]", claim.basis.tag()),
            &claim.statement,
            &claim.published,
            &claim.measured,
            &claim.criterion,
        ]);
    }
    table
}
