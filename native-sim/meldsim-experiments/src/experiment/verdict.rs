//! Whether what is simulated holds against what was published.

use std::fmt;

use serde::Serialize;

/// How many published cells there were to compare with, and how many are off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// When a cell counts as off.
    pub criterion: &'static str,
    /// Cells with a published value.
    pub cells_compared: usize,
    /// Of these, off by the criterion.
    pub cells_off: usize,
    /// All of at least one hold; absent when nothing was published.
    pub holds: Option<bool>,
}

impl Verdict {
    pub(super) fn new(
        criterion: &'static str,
        comparisons: impl IntoIterator<Item = bool>,
    ) -> Verdict {
        let (mut cells_compared, mut cells_off) = (0, 0);
        for holds in comparisons {
            cells_compared += 1;
            cells_off += usize::from(!holds);
        }
        Verdict {
            criterion,
            cells_compared,
            cells_off,
            holds: (cells_compared > 0).then_some(cells_off == 0),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (off, compared, criterion) = (self.cells_off, self.cells_compared, self.criterion);
        match self.holds {
            None => write!(f, "verdict: no published value to compare with"),
            Some(true) => write!(
                f,
                "verdict: holds, 0 of {compared} published cells off ({criterion})"
            ),
            Some(false) => {
                write!(
                    f,
                    "verdict: DOES NOT HOLD, {off} of {compared} published cells off ({criterion})"
                )
            }
        }
    }
}
