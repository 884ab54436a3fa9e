//! Claims: what a source says of a device, what of that was put in or fitted, and whether the simulated one does the same.

mod change;

use std::fmt;

use serde::Serialize;

pub use change::{Change, ChangeError, Constant, constants};

use meldsim_stats::{Align, Table};

/// How much of a claim's value was there before it was simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The value was put in. That it comes out shows that nothing is lost on the way.
    Input,
    /// It follows from how the device is built, whatever its constants are.
    Construction,
    /// Constants, or a choice, were fitted to these very numbers or orderings.
    Fitted,
    /// None of its numbers or orderings were used.
    Predicted,
}

impl Kind {
    /// All, the strongest first.
    pub const ALL: [Kind; 4] = [
        Kind::Predicted,
        Kind::Fitted,
        Kind::Construction,
        Kind::Input,
    ];

    /// As outputs call it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Input => "input",
            Kind::Construction => "construction",
            Kind::Fitted => "fitted",
            Kind::Predicted => "predicted",
        }
    }
}

/// Where the bound of a claim comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The source says it: a range, an order, a direction.
    Published,
    /// What the digits of the published number tell apart.
    Digits,
    /// Ours.
    Own,
}

impl Bound {
    const fn text(self) -> &'static str {
        match self {
            Bound::Published => "published",
            Bound::Digits => "published digits",
            Bound::Own => "our own",
        }
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
    /// How much of it was there before.
    pub kind: Kind,
    /// What was put in, why it follows, which constants were fitted to which cells, or why it is a prediction.
    pub rests_on: &'static str,
    /// What is claimed.
    pub statement: String,
    /// The published value, or what is expected where none is.
    pub published: String,
    /// The simulated value.
    pub measured: String,
    /// When it counts as holding.
    pub criterion: String,
    /// Where that bound comes from.
    pub bound: Bound,
    /// Whether it holds.
    pub holds: bool,
    /// Of a claim that does not hold: why, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed_because: Option<&'static str>,
    /// A change of the device under which it does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fails_with: Option<Change>,
    /// The command that shows it.
    pub command: String,
}

/// A claim begins with its kind, its id and what it rests on, and is then filled in.
impl Claim {
    /// `what` was put in.
    pub fn input(id: &'static str, what: &'static str) -> Claim {
        Claim::new(Kind::Input, id, what)
    }

    /// It follows from how the device is built: `why`.
    pub fn construction(id: &'static str, why: &'static str) -> Claim {
        Claim::new(Kind::Construction, id, why)
    }

    /// `what` was fitted, and to what.
    pub fn fitted(id: &'static str, what: &'static str) -> Claim {
        Claim::new(Kind::Fitted, id, what)
    }

    /// `why` nothing of it was known to the model.
    pub fn predicted(id: &'static str, why: &'static str) -> Claim {
        Claim::new(Kind::Predicted, id, why)
    }

    fn new(kind: Kind, id: &'static str, rests_on: &'static str) -> Claim {
        let experiment = id.split_once('.').map_or(id, |(experiment, _)| experiment);
        Claim {
            id,
            paper: "",
            kind,
            rests_on,
            statement: String::new(),
            published: String::new(),
            measured: String::new(),
            criterion: String::new(),
            bound: Bound::Own,
            holds: false,
            missed_because: None,
            fails_with: None,
            command: format!("meldsim experiment {experiment}"),
        }
    }

    /// What is claimed.
    pub fn statement(mut self, statement: impl Into<String>) -> Claim {
        self.statement = statement.into();
        self
    }

    /// The published value, or the one that is expected.
    pub fn expected(mut self, expected: impl Into<String>) -> Claim {
        self.published = expected.into();
        self
    }

    /// The simulated value.
    pub fn measured(mut self, measured: impl Into<String>) -> Claim {
        self.measured = measured.into();
        self
    }

    /// When it counts as holding, and where that bound comes from.
    pub fn when(mut self, bound: Bound, criterion: impl Into<String>) -> Claim {
        self.bound = bound;
        self.criterion = criterion.into();
        self
    }

    /// Whether it does.
    pub fn holds(mut self, holds: bool) -> Claim {
        self.holds = holds;
        self
    }

    /// Why it does not hold, if it does not.
    pub fn missed_because(mut self, reason: &'static str) -> Claim {
        self.missed_because = (!self.holds).then_some(reason);
        self
    }

    /// A change of the device under which it does not hold; a test makes it.
    pub fn fails_with(mut self, change: Change) -> Claim {
        self.fails_with = Some(change);
        self
    }

    /// Whether it holds and says of the model more than how it is built: then there is a device that fails it.
    pub(super) fn needs_change(&self) -> bool {
        self.holds && matches!(self.kind, Kind::Fitted | Kind::Predicted)
    }

    /// The claim as lines of text.
    pub(super) fn to_text(&self) -> String {
        // Only what is published is called so.
        let expectation = match self.kind {
            Kind::Construction => "expected",
            Kind::Input | Kind::Fitted | Kind::Predicted => "published",
        };
        let mut text = format!(
            "{}: [{}] {}; {expectation}: {}; simulated: {} (holds when {}; bound: {})\n",
            self.verdict(),
            self.kind.name(),
            self.statement,
            self.published,
            self.measured,
            self.criterion,
            self.bound.text(),
        );
        text += &format!("  rests on: {}\n", self.rests_on);
        if let Some(change) = &self.fails_with {
            text += &format!("  fails with: {change}\n");
        }
        if let Some(reason) = self.missed_because {
            text += &format!("  missed because: {reason}\n");
        }
        text
    }

    fn verdict(&self) -> &'static str {
        if self.holds { "holds" } else { "DOES NOT HOLD" }
    }
}

/// How many claims of a kind there are, and how many of them hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Count {
    /// The kind.
    pub kind: Kind,
    /// Claims of it.
    pub checked: usize,
    /// Of these, the ones that hold.
    pub held: usize,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.checked == 1 { "holds" } else { "hold" };
        let (kind, held, checked) = (self.kind.name(), self.held, self.checked);
        write!(f, "{kind}: {held} of {checked} {verb}")
    }
}

/// The claims of each kind that there are, counted.
pub(super) fn counts(claims: &[Claim]) -> Vec<Count> {
    let of = |kind| {
        let claims = || claims.iter().filter(move |claim| claim.kind == kind);
        Count {
            kind,
            checked: claims().count(),
            held: claims().filter(|claim| claim.holds).count(),
        }
    };
    let counts = Kind::ALL.map(of).into_iter();
    counts.filter(|count| count.checked > 0).collect()
}

/// Claims with their verdicts, one a line.
pub fn claims_table<'a>(claims: impl IntoIterator<Item = &'a Claim>) -> Table {
    let columns = [
        "verdict",
        "kind",
        "claim",
        "published or expected",
        "simulated",
        "holds when",
        "bound",
        "rests on",
        "fails with",
        "missed because",
    ];
    let mut table = Table::new(columns.map(|name| (name, Align::Left)));
    for claim in claims {
        let fails_with = claim.fails_with.as_ref();
        table.row([
            claim.verdict(),
            claim.kind.name(),
            &claim.statement,
            &claim.published,
            &claim.measured,
            &claim.criterion,
            claim.bound.text(),
            claim.rests_on,
            &fails_with.map_or_else(String::new, Change::to_string),
            claim.missed_because.unwrap_or_default(),
        ]);
    }
    table
}
