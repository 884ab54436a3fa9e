//! What the host sees of the device: commands, directives, namespaces, status; and the wire.

mod arbiter;
mod command;
mod controller;
mod directive;
mod hint;
mod namespace;
mod ranges;
mod window;
pub mod wire;

pub use arbiter::Priority;
pub(crate) use arbiter::{Arbiter, Scheme};
pub use command::{Command, Completion, Opcode, Status};
pub use controller::{Controller, Posted, SubmissionError};
pub use directive::{Directive, DirectiveError, Pattern};
pub use hint::MAX_STREAMS;
pub(crate) use hint::{Hint, Hints};
pub use namespace::{Namespace, NamespaceId};
pub use window::Window;
pub(crate) use window::{WindowError, Windows};
