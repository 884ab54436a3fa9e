//! I/O queues: created and deleted by admin commands.

use std::collections::VecDeque;

use super::{Controller, Posted};
use crate::device::QueueId;
use crate::nvme::Priority;
use crate::nvme::wire::admin::CreateQueue;
use crate::nvme::wire::{Sqe, StatusCode};

/// I/O queues of each kind, numbered from 1.
pub(super) const MAX_QUEUES: u16 = 256;

#[derive(Debug)]
pub(super) struct SubmissionQueue {
    pub(super) cqid: u16,
    /// Entries of the ring, one of which always stays empty.
    pub(super) entries: u16,
    /// Where the host puts the next entry.
    pub(super) tail: u16,
    pub(super) queue: QueueId,
}

#[derive(Debug)]
pub(super) struct CompletionQueue {
    entries: u16,
    /// Where the host takes the next entry, and the phase of this round through the ring.
    head: u16,
    phase: bool,
    posted: VecDeque<Posted>,
}

impl CompletionQueue {
    /// Entries the ring has no place for are posted as the host makes room.
    pub(super) fn post(&mut self, posted: Posted) {
        self.posted.push_back(posted);
    }

    pub(super) fn pop(&mut self) -> Option<Posted> {
        let mut posted = self.posted.pop_front()?;
        posted.cqe.status |= u16::from(self.phase);
        self.head += 1;
        if self.head == self.entries {
            self.head = 0;
            self.phase = !self.phase;
        }
        Some(posted)
    }
}

impl Controller {
    /// The ring's entries: QSIZE is zero-based, and a ring of one could hold nothing.
    fn ring(create: &CreateQueue) -> Result<u16, StatusCode> {
        match create.qsize.checked_add(1) {
            Some(entries) if entries >= 2 => Ok(entries),
            _ => Err(StatusCode::INVALID_QUEUE_SIZE),
        }
    }

    pub(super) fn create_completion_queue(&mut self, sqe: &Sqe) -> Result<u32, StatusCode> {
        let create = CreateQueue::parse(sqe);
        if !(1..=MAX_QUEUES).contains(&create.qid) || self.completion.contains_key(&create.qid) {
            return Err(StatusCode::INVALID_QUEUE_IDENTIFIER);
        }
        let entries = Controller::ring(&create)?;
        if !create.contiguous {
            return Err(StatusCode::INVALID_FIELD);
        }
        let queue = CompletionQueue {
            entries,
            head: 0,
            phase: true,
            posted: VecDeque::new(),
        };
        self.completion.insert(create.qid, queue);
        Ok(0)
    }

    pub(super) fn create_submission_queue(&mut self, sqe: &Sqe) -> Result<u32, StatusCode> {
        let create = CreateQueue::parse(sqe);
        if !(1..=MAX_QUEUES).contains(&create.qid) || self.submission.contains_key(&create.qid) {
            return Err(StatusCode::INVALID_QUEUE_IDENTIFIER);
        }
        let entries = Controller::ring(&create)?;
        if !create.contiguous {
            return Err(StatusCode::INVALID_FIELD);
        }
        if !self.completion.contains_key(&create.cqid) {
            return Err(StatusCode::COMPLETION_QUEUE_INVALID);
        }
        let priority = Priority::from_bits(create.priority);
        let queue = match self.idle.pop() {
            Some(queue) => {
                self.device.set_queue(queue, u32::from(entries), priority);
                queue
            }
            None => self
                .device
                .create_queue(u32::from(entries), priority)
                .map_err(|_| StatusCode::INTERNAL_ERROR)?,
        };
        let queue = SubmissionQueue {
            cqid: create.cqid,
            entries,
            tail: 0,
            queue,
        };
        self.submission.insert(create.qid, queue);
        Ok(0)
    }

    /// A queue with commands outstanding is not deleted: aborting them is not modelled.
    pub(super) fn delete_submission_queue(&mut self, sqe: &Sqe) -> Result<u32, StatusCode> {
        let qid = sqe.cdw10 as u16;
        if !self.submission.contains_key(&qid) {
            return Err(StatusCode::INVALID_QUEUE_IDENTIFIER);
        }
        let commands = super::tag(qid, 0)..=super::tag(qid, u16::MAX);
        if self.outstanding.range(commands).next().is_some() {
            return Err(StatusCode::COMMAND_SEQUENCE_ERROR);
        }
        let deleted = self.submission.remove(&qid);
        self.idle.extend(deleted.map(|queue| queue.queue));
        Ok(0)
    }

    pub(super) fn delete_completion_queue(&mut self, sqe: &Sqe) -> Result<u32, StatusCode> {
        let qid = sqe.cdw10 as u16;
        if !self.completion.contains_key(&qid) {
            return Err(StatusCode::INVALID_QUEUE_IDENTIFIER);
        }
        if self.submission.values().any(|queue| queue.cqid == qid) {
            return Err(StatusCode::INVALID_QUEUE_DELETION);
        }
        self.completion.remove(&qid);
        Ok(0)
    }
}
