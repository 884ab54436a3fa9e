//! From which submission queue the controller fetches next: `host.arbitration`.

use std::fmt::Debug;

/// The name of a policy of arbitration.
pub type ArbitrationPolicy = super::Name<dyn Arbitration>;

super::shelf! { dyn Arbitration, "host.arbitration", Shares:
    "round-robin" in round_robin, "one queue after the other";
    "first-come" in first_come, "in the order in which they arrived, whatever their queue";
    "weighted-round-robin" in weighted_round_robin, "by the queues' priorities, as NVM Express has it";
}

/// Queue priority (Base specification, Create I/O Submission Queue, QPRIO). It matters under
/// weighted round robin only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Priority {
    /// Before all others.
    Urgent = 0,
    /// Weighted, by default the heaviest.
    High = 1,
    /// Weighted.
    #[default]
    Medium = 2,
    /// Weighted, by default the lightest.
    Low = 3,
}

/// What Set Features tells of arbitration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shares {
    /// Commands fetched from a queue before the next one of its class; [`Shares::NO_LIMIT`].
    pub burst: u32,
    /// Commands a round fetches from the high, medium and low priority class; at least one each.
    pub weights: [u32; 3],
}

impl Shares {
    /// A burst that ends with the queue's last command.
    pub const NO_LIMIT: u32 = u32::MAX;

    /// With so many commands a burst, zero for no limit. Weights of zero are taken for one.
    pub(crate) fn new(burst: u32, weights: [u32; 3]) -> Shares {
        Shares {
            burst: if burst == 0 { Shares::NO_LIMIT } else { burst },
            weights: weights.map(|weight| weight.max(1)),
        }
    }
}

impl Default for Shares {
    fn default() -> Shares {
        Shares::new(1, [4, 2, 1])
    }
}

/// A policy of arbitration, asked where the host interface has a limit. A device has one.
pub trait Arbitration: Debug + Send {
    /// A queue more; they are numbered from 0.
    fn add_queue(&mut self, priority: Priority);

    /// A command has arrived in a queue.
    fn arrived(&mut self, queue: u32);

    /// The queue to fetch the next command from, which has one. None when none has.
    fn grant(&mut self) -> Option<u32>;

    /// Whether it matters for what comes that a command was granted that arrived while none waited, or that one was asked for and
    /// none waited. Else it is neither told nor asked then.
    fn remembers(&self) -> bool {
        true
    }

    /// Shares may change at any time.
    fn set_shares(&mut self, _shares: Shares) {}
}
