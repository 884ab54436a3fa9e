//! Tickets: what a caller holds while its commands are on the device.
//!
//! A ticket is `generation << 32 | (slot + 1)`, and the tag of each of its commands. Tag 0 marks detached commands. The
//! outcome of a ticket is waited for, or it is posted: put into the completion queue, from which it is reaped.

use std::collections::VecDeque;

use meldsim::{Completion, Status};

use crate::error::{Failure, MELDSIM_ERR_CAPACITY, MELDSIM_ERR_TICKET};

/// The tag of commands nobody waits for.
pub(crate) const DETACHED: u64 = 0;
/// Tickets given out and neither waited for, reaped nor forgotten; more is a leak in the caller.
const TICKETS_MAX: usize = 1 << 20;
const GENERATION_MAX: u32 = i32::MAX as u32;

#[derive(Default)]
struct Ticket {
    generation: u32,
    live: bool,
    forgotten: bool,
    /// Its outcome goes to the completion queue.
    posted: bool,
    /// Commands still on the device.
    pending: u32,
    /// Threads blocked on this ticket.
    waiters: u32,
    ended: Ended,
    failed: Option<Status>,
}

impl Ticket {
    fn outcome(&self) -> Outcome {
        match self.failed {
            None => Ok(self.ended),
            Some(status) => Err(status),
        }
    }
}

/// All tickets of one device.
#[derive(Default)]
pub(crate) struct Tickets {
    entries: Vec<Ticket>,
    free: Vec<u32>,
    /// The completion queue: slots of posted tickets that are done, oldest first.
    done: VecDeque<u32>,
}

/// How a ticket's commands ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ended {
    /// The slowest one's latency.
    pub(crate) latency_ps: u64,
    /// The largest that one returned.
    pub(crate) result: u64,
}

/// What became of a ticket's commands, or the first error.
pub(crate) type Outcome = Result<Ended, Status>;

impl Tickets {
    /// A new ticket for `commands` commands, whose outcome is `posted` or waited for.
    pub(crate) fn issue(&mut self, commands: u32, posted: bool) -> Result<i64, Failure> {
        let index = match self.free.pop() {
            Some(index) => index as usize,
            None if self.entries.len() < TICKETS_MAX => {
                self.entries.push(Ticket::default());
                self.entries.len() - 1
            }
            None => {
                return Err(Failure::new(
                    MELDSIM_ERR_CAPACITY,
                    format!(
                        "{TICKETS_MAX} tickets were neither waited for, reaped nor forgotten; submit detached what nobody waits for"
                    ),
                ));
            }
        };
        let entry = &mut self.entries[index];
        let generation = entry.generation % GENERATION_MAX + 1;
        *entry = Ticket {
            generation,
            live: true,
            posted,
            pending: commands,
            ..Ticket::default()
        };
        Ok(ticket(generation, index))
    }

    /// Takes note of a completion. True when a thread is blocked on the ticket that this finishes.
    pub(crate) fn complete(&mut self, completion: &Completion) -> bool {
        if completion.tag == DETACHED {
            return false;
        }
        // Tags are tickets of this table, and a slot is not reused while commands are pending.
        let Ok(index) = self.index(completion.tag as i64) else {
            return false;
        };
        let entry = &mut self.entries[index];
        entry.pending -= 1;
        let ended = &mut entry.ended;
        ended.latency_ps = ended.latency_ps.max(completion.latency().as_ps());
        ended.result = ended.result.max(completion.result);
        if completion.status != Status::SUCCESS && entry.failed.is_none() {
            entry.failed = Some(completion.status);
        }
        if entry.pending > 0 {
            return false;
        }
        let awaited = entry.waiters > 0;
        if entry.forgotten {
            self.release(index);
        } else if entry.posted {
            self.done.push_back(index as u32);
        }
        awaited
    }

    /// The oldest outcome in the completion queue, with its ticket, which is void afterwards.
    pub(crate) fn reap(&mut self) -> Option<(i64, Outcome)> {
        while let Some(index) = self.done.pop_front() {
            let index = index as usize;
            let entry = &self.entries[index];
            let ticket = ticket(entry.generation, index);
            let reaped = (!entry.forgotten).then(|| (ticket, entry.outcome()));
            self.release(index);
            if reaped.is_some() {
                return reaped;
            }
        }
        None
    }

    /// The outcome of `ticket`, which is void afterwards; `None` while commands are on the device.
    pub(crate) fn take(&mut self, ticket: i64) -> Result<Option<Outcome>, Failure> {
        let index = self.valid(ticket)?;
        let entry = &self.entries[index];
        if entry.posted {
            return Err(Failure::new(
                MELDSIM_ERR_TICKET,
                format!("ticket {ticket:#x} is not waited for but reaped"),
            ));
        }
        if entry.pending > 0 {
            return Ok(None);
        }
        let outcome = entry.outcome();
        self.release(index);
        Ok(Some(outcome))
    }

    /// Gives `ticket` up; its commands run on. True when threads were blocked on it.
    pub(crate) fn forget(&mut self, ticket: i64) -> Result<bool, Failure> {
        let index = self.valid(ticket)?;
        let entry = &mut self.entries[index];
        let awaited = entry.waiters > 0;
        entry.forgotten = true;
        // A posted one that is done is in the completion queue, which releases it.
        if entry.pending == 0 && !entry.posted {
            self.release(index);
        }
        Ok(awaited)
    }

    /// Takes back `commands` commands of `ticket` that never reached the device.
    pub(crate) fn withdraw(&mut self, ticket: i64, commands: u32) {
        if let Ok(index) = self.index(ticket) {
            let entry = &mut self.entries[index];
            entry.pending -= commands;
            entry.forgotten = true;
            if entry.pending == 0 {
                self.release(index);
            }
        }
    }

    /// Counts a thread that starts (`true`) or stops (`false`) blocking on `ticket`.
    pub(crate) fn mark_waiter(&mut self, ticket: i64, blocked: bool) {
        if let Ok(index) = self.index(ticket) {
            let waiters = &mut self.entries[index].waiters;
            *waiters = if blocked {
                *waiters + 1
            } else {
                waiters.saturating_sub(1)
            };
        }
    }

    /// Threads that block on a ticket.
    #[cfg(test)]
    pub(crate) fn waiters(&self) -> u32 {
        self.entries.iter().map(|entry| entry.waiters).sum()
    }

    fn release(&mut self, index: usize) {
        self.entries[index].live = false;
        self.free.push(index as u32);
    }

    fn valid(&self, ticket: i64) -> Result<usize, Failure> {
        let index = self.index(ticket)?;
        if self.entries[index].forgotten {
            return Err(unknown(ticket));
        }
        Ok(index)
    }

    fn index(&self, ticket: i64) -> Result<usize, Failure> {
        let generation = ticket >> 32;
        let index = usize::try_from((ticket & 0xFFFF_FFFF) - 1).unwrap_or(usize::MAX);
        match self.entries.get(index) {
            Some(entry) if entry.live && i64::from(entry.generation) == generation => Ok(index),
            _ => Err(unknown(ticket)),
        }
    }
}

fn ticket(generation: u32, index: usize) -> i64 {
    i64::from(generation) << 32 | (index as i64 + 1)
}

fn unknown(ticket: i64) -> Failure {
    Failure::new(
        MELDSIM_ERR_TICKET,
        format!(
            "ticket {ticket:#x} was never given out, or was already waited for, reaped or forgotten"
        ),
    )
}
