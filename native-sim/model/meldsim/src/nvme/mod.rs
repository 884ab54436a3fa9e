//! The host's side of the device in NVMe's terms: what a host may ask for, and what it is told.
//!
//! In: commands with their directives and hints, what is said about ranges and streams, features of
//! an NVM set. Out: completions, a log page. Nothing here knows the device or moves time.
//!
//! | file | what |
//! | --- | --- |
//! | `command` | commands, completions, namespaces (NVM Command Set specification 1.0) |
//! | `directive` | directives of a write (Base specification 2.0, Directives) |
//! | `dataset` | the DSM field and the ranges of Dataset Management |
//! | `fdp` | Flexible Data Placement: statistics and events of an endurance group (Log Pages 22h and 23h) |
//! | `hint` | one read pattern from all that was said about a write |
//! | `zone`, `zones` | zones, and their state machine (Zoned Namespace Command Set specification 1.1) |
//! | `status` | how a command ended |
//! | `window` | Predictable Latency Mode of an NVM set (Features 13h and 14h, Log Page 0Ah) |

mod command;
mod dataset;
mod directive;
pub mod fdp;
mod hint;
mod status;
mod window;
pub mod zone;
pub(crate) mod zones;

pub use crate::opcode::Opcode;
pub use crate::policy::arbitration::Priority;
pub use command::{Command, Completion, Namespace, NamespaceId};
pub use dataset::{DsmByte, DsmRange, MAX_DSM_RANGES};
pub use directive::{Directive, DirectiveError, MAX_STREAMS, Pattern};
pub(crate) use hint::{Hint, Hints};
pub use status::Status;
pub use window::{PredictableLatencyConfig, PredictableLatencyLog, Window};
pub(crate) use window::{WindowError, Windows};

/// The paths of old; see the modules above.
#[doc(hidden)]
pub mod wire {
    pub mod io {
        pub use crate::nvme::{DsmByte, DsmRange};
    }
    pub mod sets {
        pub use crate::nvme::{PredictableLatencyConfig, PredictableLatencyLog};
    }
}
