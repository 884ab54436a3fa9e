//! What each step takes, and whose work it is.

use super::step::{STEPS, Step, Type};
use crate::engine::Time;
use crate::profile::{Firmware, FirmwareDesign};

/// A step's service time: a part for the command, and one for each page.
#[derive(Clone, Copy, Debug, Default)]
struct Service {
    fixed: Time,
    page: Time,
}

/// The service times of a design.
#[derive(Debug)]
pub(super) struct Costs {
    services: [Service; STEPS],
    /// A lock moves from one core to another.
    pub(super) handover: Time,
}

impl Costs {
    pub(super) fn new(firmware: &Firmware) -> Costs {
        let cost = &firmware.cost;
        let speed = u64::from(firmware.core.speed_percent);
        let on_core = |time: Time| Time::from_ps(time.as_ps().saturating_mul(100) / speed);
        let [fetch, parse, lock, unlock] =
            [cost.fetch, cost.parse, cost.lock, cost.unlock].map(on_core);
        let [lookup, cache, translate, compose] =
            [cost.table_lookup, cost.cache, cost.translate, cost.compose].map(on_core);
        let [complete, collect, journal] = [cost.complete, cost.collect, cost.journal].map(on_core);
        // Naive cores call each other's code; all others send messages.
        let message = match firmware.design {
            FirmwareDesign::Naive => Time::ZERO,
            _ => cost.message,
        };
        let is_pipeline = firmware.design == FirmwareDesign::Pipeline;
        let splits = is_pipeline && firmware.dynamic_serialization;
        let forwards = is_pipeline && firmware.lock_forwarding;
        let or_zero = |time, is_there| if is_there { time } else { Time::ZERO };

        let mut costs = Costs {
            services: [Service::default(); STEPS],
            handover: cost.handover,
        };
        let mut set =
            |step: Step, fixed, page| costs.services[step as usize] = Service { fixed, page };
        let zero = Time::ZERO;
        match firmware.design {
            FirmwareDesign::Ideal | FirmwareDesign::Naive => {
                set(Step::Fetch, fetch, zero);
                set(Step::Parse, parse, zero);
                set(Step::Complete, complete, zero);
            }
            FirmwareDesign::ManyLayered => {
                set(Step::Fetch, fetch + parse + lock, zero);
                set(Step::Complete, message + complete + unlock, zero);
            }
            FirmwareDesign::Pipeline => {
                set(Step::Fetch, fetch + or_zero(parse, !splits), zero);
                set(Step::Parse, message + parse, zero);
                // The one that completes may also have to unlock.
                set(Step::Complete, message + complete, unlock);
            }
        }
        set(Step::Lock, message + lock, zero);
        set(Step::Dispatch, message, lookup);
        set(Step::Buffer, message, cache);
        set(Step::Translate, message, translate);
        set(Step::Compose, message + or_zero(unlock, forwards), compose);
        set(Step::Layer, message, cache + translate + compose);
        set(Step::Unlock, message + unlock, zero);
        set(Step::Collect, message, collect);
        set(Step::Journal, message, journal);
        costs
    }

    #[inline]
    pub(super) fn of(&self, step: Step, pages: u32) -> Time {
        let Service { fixed, page } = self.services[step as usize];
        fixed + page * u64::from(pages)
    }

    /// What a type of thread does for a command of one page, half of them reads.
    pub(super) fn load(&self, of: Type, bypass: bool) -> Time {
        let half = |time: Time| Time::from_ps(time.as_ps() / 2);
        match of {
            Type::Nvmq => {
                let reads = half(self.of(Step::Dispatch, 1));
                let [fetch, parse] = [Step::Fetch, Step::Parse].map(|step| self.of(step, 1));
                fetch
                    + parse
                    + reads
                    + half(self.of(Step::Dispatch, 0))
                    + self.of(Step::Complete, 0)
            }
            Type::Ilock => self.of(Step::Lock, 1),
            Type::Cache if bypass => half(self.of(Step::Buffer, 1)),
            Type::Cache => self.of(Step::Buffer, 1),
            Type::Trans => self.of(Step::Translate, 1),
            Type::Fcmd => self.of(Step::Compose, 1),
            Type::Bgc | Type::Log => Time::ZERO,
        }
    }
}
