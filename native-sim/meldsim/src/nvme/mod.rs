//! What the host sees of the device: commands, directives, namespaces, status.

mod command;
mod directive;
mod namespace;
pub mod wire;

pub use command::{Command, Completion, Opcode, Status};
pub use directive::{Directive, DirectiveError, Pattern};
pub use namespace::{Namespace, NamespaceId};
