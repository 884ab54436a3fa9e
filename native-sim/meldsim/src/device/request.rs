//! Commands on their way, and how much of their time they overlap.

use super::front::PageRange;
use crate::engine::{Slab, Time};
use crate::nvme::{Command, Completion, Hint, Opcode, Status};

/// What a command asks for, checked and resolved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub(super) opcode: Opcode,
    pub(super) hint: Hint,
    pub(super) range: PageRange,
    /// Bytes of the namespace before it.
    pub(super) start: u64,
    pub(super) bytes: u64,
    /// The submission queue it came from.
    pub(super) queue: u16,
}

/// What an NVM set did since the device was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetUsage {
    /// Reads begun.
    pub read_commands: u64,
    /// Bytes of these.
    pub read_bytes: u64,
    /// Writes begun.
    pub write_commands: u64,
    /// Bytes of these.
    pub written_bytes: u64,
    /// Bytes programmed, for the host and for garbage collection.
    pub programmed_bytes: u64,
}

/// Whether the host is at work on an NVM set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SetActivity {
    /// Its commands that have not completed.
    pub(super) outstanding: u64,
    pub(super) idle_since: Time,
    /// An event will tell that it is idle.
    pub(super) is_timed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    tag: u64,
    submitted: Time,
    /// Pages, latencies and programs it still waits for.
    parts: u64,
    opcode: Opcode,
    status: Status,
    /// The NVM set it began in, where idle sets collect.
    home: Option<u32>,
}

/// How long at least one of a kind of command was outstanding.
#[derive(Clone, Copy, Debug, Default)]
struct Activity {
    outstanding: u64,
    since: Time,
    total: Time,
}

impl Activity {
    #[inline]
    fn start(&mut self, now: Time) {
        if self.outstanding == 0 {
            self.since = now;
        }
        self.outstanding += 1;
    }

    #[inline]
    fn end(&mut self, now: Time) {
        self.outstanding -= 1;
        if self.outstanding == 0 {
            self.total += now - self.since;
        }
    }

    fn total(&self, now: Time) -> Time {
        if self.outstanding == 0 {
            self.total
        } else {
            self.total + (now - self.since)
        }
    }
}

#[derive(Debug)]
pub(super) struct Requests {
    requests: Slab<Request>,
    all: Activity,
    reads: Activity,
    read_latency: Time,
    write_latency: Time,
}

impl Requests {
    pub(super) fn new() -> Requests {
        Requests {
            requests: Slab::new(),
            all: Activity::default(),
            reads: Activity::default(),
            read_latency: Time::ZERO,
            write_latency: Time::ZERO,
        }
    }

    pub(super) fn start(&mut self, command: &Command, now: Time) -> u32 {
        let &Command { opcode, tag, .. } = command;
        self.all.start(now);
        if opcode == Opcode::Read {
            self.reads.start(now);
        }
        self.requests.insert(Request {
            tag,
            submitted: now,
            parts: 0,
            opcode,
            status: Status::Success,
            home: None,
        })
    }

    /// The request waits for that many parts more.
    #[inline]
    pub(super) fn expect(&mut self, request: u32, parts: u64) {
        self.requests[request].parts += parts;
    }

    /// The request will end with this status.
    pub(super) fn set_status(&mut self, request: u32, status: Status) {
        self.requests[request].status = status;
    }

    pub(super) fn submitted(&self, request: u32) -> Time {
        self.requests[request].submitted
    }

    pub(super) fn opcode(&self, request: u32) -> Opcode {
        self.requests[request].opcode
    }

    pub(super) fn tag(&self, request: u32) -> u64 {
        self.requests[request].tag
    }

    /// Some parts are done; true if there are no more.
    #[inline]
    pub(super) fn finish_part(&mut self, request: u32, parts: u64) -> bool {
        let waiting = &mut self.requests[request].parts;
        debug_assert!(*waiting >= parts, "a request finished more than it has");
        *waiting -= parts;
        *waiting == 0
    }

    /// The request ends.
    #[inline]
    pub(super) fn end(&mut self, request: u32, now: Time) -> Completion {
        let Request {
            tag,
            submitted,
            opcode,
            status,
            ..
        } = self.requests[request];
        self.requests.remove(request);
        self.all.end(now);
        match opcode {
            Opcode::Read => {
                self.reads.end(now);
                self.read_latency += now - submitted;
            }
            Opcode::Write => self.write_latency += now - submitted,
            Opcode::Deallocate | Opcode::Flush => {}
        }
        Completion {
            tag,
            opcode,
            status,
            submitted,
            completed: now,
        }
    }

    pub(super) fn set_home(&mut self, request: u32, set: u32) {
        self.requests[request].home = Some(set);
    }

    /// The set a request began in, even if it has just ended.
    pub(super) fn home(&self, request: u32) -> Option<u32> {
        self.requests[request].home
    }

    pub(super) fn outstanding(&self) -> usize {
        self.requests.len()
    }

    pub(super) fn active(&self, now: Time) -> Time {
        self.all.total(now)
    }

    pub(super) fn read_active(&self, now: Time) -> Time {
        self.reads.total(now)
    }

    pub(super) fn read_latency(&self) -> Time {
        self.read_latency
    }

    pub(super) fn write_latency(&self) -> Time {
        self.write_latency
    }
}
