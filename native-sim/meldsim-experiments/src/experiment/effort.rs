//! How much of an experiment is simulated.

/// How much is simulated, where an experiment takes long enough to choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// For a look, and for tests: less than the claims are meant for.
    Quick,
    /// What the claims are about.
    #[default]
    Full,
}

impl Effort {
    /// What is said of it next to the numbers.
    pub(super) fn note(self) -> &'static str {
        match self {
            Effort::Quick => " A quick look: less is simulated than the claims are meant for.",
            Effort::Full => "",
        }
    }
}
