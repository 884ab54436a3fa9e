//! The steps of a command through the firmware.

/// The types of threads. Designs without such threads do the same work elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// Fetches, parses and completes commands.
    Nvmq,
    /// Keeps the index lock.
    Ilock,
    /// Changes the burst buffer.
    Cache,
    /// Translates addresses.
    Trans,
    /// Composes and schedules flash transactions.
    Fcmd,
    /// Collects garbage in the background.
    Bgc,
    /// Journals changes of the mapping.
    Log,
}

/// How many [`Type`]s there are.
pub(super) const TYPES: usize = 7;

/// What a thread does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Takes a command from its submission queue.
    Fetch,
    /// Parses and checks it.
    Parse,
    /// Locks its range.
    Lock,
    /// Sends it on, having looked into the burst buffer's table if it may.
    Dispatch,
    /// Looks up or changes the burst buffer.
    Buffer,
    /// Translates pages.
    Translate,
    /// Composes transactions; with the last one the command begins on the medium.
    Compose,
    /// Buffer, translation and composing in one, of layered firmware.
    Layer,
    /// Unlocks its range.
    Unlock,
    /// Tells the host.
    Complete,
    /// Garbage collection's work.
    Collect,
    /// Journals.
    Journal,
}

/// How many [`Step`]s there are.
pub(super) const STEPS: usize = 12;

impl Step {
    /// Whose work it is.
    pub(super) fn whose(self) -> Type {
        match self {
            Step::Fetch | Step::Parse | Step::Dispatch | Step::Complete => Type::Nvmq,
            Step::Lock | Step::Unlock => Type::Ilock,
            Step::Buffer => Type::Cache,
            Step::Translate | Step::Layer => Type::Trans,
            Step::Compose => Type::Fcmd,
            Step::Collect => Type::Bgc,
            Step::Journal => Type::Log,
        }
    }
}

/// A step of a command, for so many of its pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) request: u32,
    pub(super) pages: u32,
    pub(super) step: Step,
}
