//! What the user should know of the measured cells.

use serde::Serialize;

/// Something about the cells that the user should know.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// A word for programs: `depth-1`, `host-limited`, `throttled`.
    pub id: &'static str,
    /// What is so.
    pub what: String,
    /// What to measure next.
    pub measure: String,
}

impl Finding {
    pub(super) fn new(id: &'static str, what: String, measure: &str) -> Finding {
        Finding {
            id,
            what,
            measure: measure.to_owned(),
        }
    }

    /// For people: two lines, and one before them.
    pub fn to_text(&self) -> String {
        format!("\n{}\n  measure next: {}\n", self.what, self.measure)
    }

    /// A run of fio that is not used.
    pub(super) fn left_out(note: String) -> Finding {
        let measure = "nothing, unless it was meant to be used";
        Finding::new("left-out", note, measure)
    }
}
