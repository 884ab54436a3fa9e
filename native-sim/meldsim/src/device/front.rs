//! What every device has in front of its medium: namespaces, hints, queues and link, requests,
//! completions, the clock.

use std::collections::VecDeque;

use super::DeviceError;
use super::firmware::Seam;
use super::host::Host;
use super::request::{Requests, SetActivity, SetUsage, Work};
use crate::engine::{Event, EventQueue, Time};
use crate::nvme::{Completion, Hints, Namespace, NamespaceId, Opcode, Status};
use crate::profile::Profile;

use super::Stats;

/// The pages of a range, and whether the first and the last are covered only in part.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageRange {
    pub(super) set: u32,
    pub(super) space: u32,
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) partial_first: bool,
    pub(super) partial_last: bool,
}

impl PageRange {
    pub(super) fn pages(&self) -> u64 {
        self.end - self.first
    }
}

/// The part of a device that does not depend on the medium. A medium sees this and nothing else of
/// the device.
#[derive(Debug)]
pub(super) struct Front {
    pub(super) profile: Profile,
    pub(super) queue: EventQueue<Event>,
    pub(super) namespaces: Vec<Namespace>,
    /// The NVM set of each namespace, and the number of its space there.
    pub(super) homes: Vec<(u32, u32)>,
    /// What was said about the namespaces before their writes, in the same order.
    pub(super) hints: Vec<Hints>,
    pub(super) host: Host,
    /// Firmware, unless it is ideal.
    pub(super) seam: Option<Box<Seam>>,
    pub(super) requests: Requests,
    pub(super) completions: VecDeque<Completion>,
    /// What each NVM set did for the host.
    pub(super) usage: Vec<SetUsage>,
    /// Whether the host is at work on each NVM set.
    pub(super) activity: Vec<SetActivity>,
    /// The counters that are the device's own; the rest are asked of its parts.
    pub(super) stats: Stats,
}

impl Front {
    /// The front of a medium with that many NVM sets, and timers for these events.
    pub(super) fn new(profile: &Profile, sets: usize, alarms: Vec<Event>) -> Front {
        Front {
            queue: EventQueue::new(alarms),
            namespaces: Vec::new(),
            homes: Vec::new(),
            hints: Vec::new(),
            host: Host::new(profile),
            seam: Seam::new(profile),
            requests: Requests::new(),
            completions: VecDeque::new(),
            usage: vec![SetUsage::default(); sets],
            activity: vec![SetActivity::default(); sets],
            stats: Stats::default(),
            profile: profile.clone(),
        }
    }

    #[inline]
    pub(super) fn now(&self) -> Time {
        self.queue.now()
    }

    /// Counts a command that begins on the medium.
    #[inline]
    pub(super) fn count(&mut self, work: &Work) {
        let usage = &mut self.usage[work.range.set as usize];
        match work.opcode {
            Opcode::Read => {
                usage.read_commands += 1;
                usage.read_bytes += work.bytes;
            }
            Opcode::Write => {
                usage.write_commands += 1;
                usage.written_bytes += work.bytes;
            }
            Opcode::Deallocate | Opcode::Flush => {}
        }
    }

    /// Some of what the request waits for has happened; with the last of it the medium has ended
    /// the command.
    #[inline]
    pub(super) fn finish_part(&mut self, request: u32, parts: u64) {
        if self.requests.finish_part(request, parts) && !self.hand_back(request) {
            self.complete(request);
        }
    }

    /// The command has ended: the host sees it.
    #[inline]
    pub(super) fn complete(&mut self, request: u32) {
        let ended = self.requests.end(request, self.queue.now());
        self.stats.failed_commands += u64::from(ended.status != Status::Success);
        self.completions.push_back(ended);
        self.host.ended();
        self.end_in(request);
    }

    /// What needs no medium takes the controller's latency.
    pub(super) fn after_controller_latency(&mut self, request: u32) {
        let time = self.queue.now() + self.profile.controller.latency;
        self.queue.schedule(time, Event::Controller(request));
    }

    /// A command of the host's begins in a set whose idleness matters.
    #[inline]
    pub(super) fn begin_in(&mut self, set: u32, request: u32) {
        self.requests.set_home(request, set);
        self.activity[set as usize].outstanding += 1;
    }

    /// A command of the host's has ended.
    #[inline]
    fn end_in(&mut self, request: u32) {
        let Some(set) = self.requests.home(request) else {
            return;
        };
        let now = self.queue.now();
        let activity = &mut self.activity[set as usize];
        activity.outstanding -= 1;
        activity.idle_since = now;
        if activity.outstanding == 0 && !activity.is_timed {
            activity.is_timed = true;
            let time = now + self.profile.gc.background_idle;
            self.queue.schedule(time, Event::Idle(set));
        }
    }

    /// Whether a set has been idle for long enough; else it is looked at again.
    pub(super) fn is_idle(&mut self, set: u32) -> bool {
        let activity = &mut self.activity[set as usize];
        activity.is_timed = false;
        if activity.outstanding > 0 {
            return false;
        }
        let time = activity.idle_since + self.profile.gc.background_idle;
        if time > self.queue.now() {
            activity.is_timed = true;
            self.queue.schedule(time, Event::Idle(set));
            return false;
        }
        true
    }

    /// The namespace, if it exists.
    pub(super) fn namespace(&self, nsid: NamespaceId) -> Option<&Namespace> {
        self.namespaces.get((nsid.0 as usize).wrapping_sub(1))
    }

    pub(super) fn empty_range(&self, nsid: NamespaceId) -> Result<PageRange, DeviceError> {
        let namespace = self
            .namespace(nsid)
            .ok_or(DeviceError::UnknownNamespace { nsid })?;
        let (set, space) = self.homes[namespace.id.0 as usize - 1];
        Ok(PageRange {
            set,
            space,
            first: 0,
            end: 0,
            partial_first: false,
            partial_last: false,
        })
    }

    /// The pages of a range of logical blocks, and its bytes.
    pub(super) fn pages(
        &self,
        nsid: NamespaceId,
        slba: u64,
        nlb: u64,
    ) -> Result<(PageRange, u64), DeviceError> {
        let namespace = self
            .namespace(nsid)
            .ok_or(DeviceError::UnknownNamespace { nsid })?;
        let size_lbas = namespace.size_lbas;
        if nlb == 0 || slba > size_lbas || nlb > size_lbas - slba {
            return Err(DeviceError::OutOfRange {
                nsid,
                slba,
                nlb,
                size_lbas,
            });
        }
        let page_bytes = namespace.page_bytes;
        let (start, bytes) = (slba * namespace.lba_bytes, nlb * namespace.lba_bytes);
        let stop = start + bytes;
        let (set, space) = self.homes[namespace.id.0 as usize - 1];
        let range = PageRange {
            set,
            space,
            first: start / page_bytes,
            end: stop.div_ceil(page_bytes),
            partial_first: start % page_bytes != 0,
            partial_last: stop % page_bytes != 0,
        };
        Ok((range, bytes))
    }
}
