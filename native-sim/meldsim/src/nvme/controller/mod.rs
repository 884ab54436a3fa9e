//! A controller at the level of the wire: submission queue entries in, completion queue entries out.
//!
//! It stands in front of a [`Device`] and speaks for it: admin commands are executed at once,
//! I/O commands go through the device's queues and take simulated time. Data are not modelled, so
//! a read returns none and a write brings none; only commands about the device carry buffers.

mod directives;
mod features;
mod identify;
mod io;
mod queues;

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use self::directives::NamespaceDirectives;
use self::queues::{CompletionQueue, SubmissionQueue};
use super::wire::admin::opcode;
use super::wire::{Cqe, Sqe, StatusCode};
use super::{Completion, Status};
use crate::device::{Device, DeviceError, QueueId};
use crate::engine::Time;

/// Why an entry does not get into a submission queue. The controller never sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SubmissionError {
    /// No such submission queue.
    #[error("submission queue {sqid} does not exist; create it with an admin command first")]
    UnknownQueue {
        /// The identifier given.
        sqid: u16,
    },
    /// The queue is full.
    #[error("submission queue {sqid} is full; run the device until commands are fetched")]
    Full {
        /// The queue.
        sqid: u16,
    },
}

/// A completion queue entry, with what a simulator knows besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posted {
    /// The entry.
    pub cqe: Cqe,
    /// When its command was submitted.
    pub submitted: Time,
    /// When it completed.
    pub completed: Time,
}

impl Posted {
    /// Time from submission to completion.
    pub fn latency(&self) -> Time {
        self.completed - self.submitted
    }
}

/// An NVMe controller over a [`Device`].
///
/// ```
/// use meldsim::nvme::Controller;
/// use meldsim::nvme::wire::admin::{CreateQueue, opcode};
/// use meldsim::nvme::wire::io::ReadWrite;
/// use meldsim::{Device, Profile};
///
/// let mut device = Device::new(&Profile::builtin("melded-tlc-8x8")?)?;
/// let nsid = device.create_namespace(1 << 30)?;
/// let mut controller = Controller::new(device);
/// let queue = CreateQueue { qid: 1, qsize: 63, contiguous: true, cqid: 1, ..Default::default() };
/// for create in [opcode::CREATE_IO_CQ, opcode::CREATE_IO_SQ] {
///     let cqe = controller.admin(&queue.encode(create, 0), &mut []);
///     assert!(cqe.status_code().is_success());
/// }
/// let read = ReadWrite { slba: 8, nlb: 0, ..Default::default() }.encode(0x02, 7, nsid.0);
/// controller.submit(1, &read, &[])?;
/// controller.run_until_completion();
/// let posted = controller.pop_completion(1).expect("the read is done");
/// assert_eq!((posted.cqe.cid, posted.latency().as_us()), (7, 10));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Controller {
    device: Device,
    submission: BTreeMap<u16, SubmissionQueue>,
    completion: BTreeMap<u16, CompletionQueue>,
    /// The device's queues that no submission queue uses.
    idle: Vec<QueueId>,
    /// Commands on the device, by submission queue and command identifier.
    outstanding: BTreeSet<u32>,
    /// By namespace.
    directives: Vec<NamespaceDirectives>,
}

impl Controller {
    /// A controller over `device`, on which nothing may be outstanding.
    pub fn new(device: Device) -> Controller {
        debug_assert_eq!(device.outstanding(), 0, "commands without a queue");
        Controller {
            device,
            submission: BTreeMap::new(),
            completion: BTreeMap::new(),
            idle: Vec::new(),
            outstanding: BTreeSet::new(),
            directives: Vec::new(),
        }
    }

    /// The device behind it.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The device behind it, to be set up: namespaces, preloaded data. Commands submitted and time
    /// moved around the controller are lost on it.
    pub fn device_mut(&mut self) -> &mut Device {
        &mut self.device
    }

    /// The device, without its controller.
    pub fn into_device(self) -> Device {
        self.device
    }

    /// Executes an admin command at once. `data` is its buffer in either direction. The entry is
    /// that of the admin completion queue, whose heads and phases are not modelled.
    pub fn admin(&mut self, sqe: &Sqe, data: &mut [u8]) -> Cqe {
        let result = match sqe.opcode {
            _ if sqe.is_fused() => Err(StatusCode::INVALID_FIELD),
            opcode::IDENTIFY => self.identify(sqe, data),
            opcode::CREATE_IO_CQ => self.create_completion_queue(sqe),
            opcode::CREATE_IO_SQ => self.create_submission_queue(sqe),
            opcode::DELETE_IO_CQ => self.delete_completion_queue(sqe),
            opcode::DELETE_IO_SQ => self.delete_submission_queue(sqe),
            opcode::GET_LOG_PAGE => self.get_log_page(sqe, data),
            opcode::SET_FEATURES => self.set_features(sqe, data),
            opcode::GET_FEATURES => self.get_features(sqe, data),
            opcode::DIRECTIVE_SEND => self.directive_send(sqe),
            opcode::DIRECTIVE_RECEIVE => self.directive_receive(sqe, data),
            _ => Err(StatusCode::INVALID_OPCODE),
        };
        let (dw0, code) = match result {
            Ok(dw0) => (dw0, StatusCode::SUCCESS),
            Err(code) => (0, code),
        };
        Cqe {
            dw0,
            cid: sqe.cid,
            status: Cqe::status_of(code, true),
            ..Cqe::default()
        }
    }

    /// Puts an I/O command into a submission queue at [`Device::now`]. `data` is what the command
    /// sends to the controller: the ranges of Dataset Management. What is wrong with the command
    /// is told by its completion.
    pub fn submit(&mut self, sqid: u16, sqe: &Sqe, data: &[u8]) -> Result<(), SubmissionError> {
        let queue = self.submission.get_mut(&sqid);
        let queue = queue.ok_or(SubmissionError::UnknownQueue { sqid })?;
        if self.device.queued(queue.queue) + 1 >= usize::from(queue.entries) {
            return Err(SubmissionError::Full { sqid }); // one entry always stays empty
        }
        queue.tail = (queue.tail + 1) % queue.entries;
        let to = queue.queue;
        let tag = tag(sqid, sqe.cid);
        let result = match self.outstanding.contains(&tag) {
            true => Err(StatusCode::COMMAND_ID_CONFLICT),
            false => self.execute(to, tag, sqe, data),
        };
        match result {
            Ok(true) => {
                self.outstanding.insert(tag);
            }
            Ok(false) => self.post_now(tag, StatusCode::SUCCESS),
            Err(code) => self.post_now(tag, code),
        }
        Ok(())
    }

    /// Moves time to `time` and posts what completes on the way.
    pub fn advance_to(&mut self, time: Time) {
        self.device.advance_to(time);
        self.post_completed();
    }

    /// Moves time until an I/O command completes; false when none is outstanding.
    pub fn run_until_completion(&mut self) -> bool {
        let any = self.device.run_until_completion();
        self.post_completed();
        any
    }

    /// The next entry of a completion queue, which has then been consumed.
    pub fn pop_completion(&mut self, cqid: u16) -> Option<Posted> {
        self.completion.get_mut(&cqid)?.pop()
    }

    fn post_completed(&mut self) {
        while let Some(completion) = self.device.pop_completion() {
            let code = match completion.status {
                Status::Success => StatusCode::SUCCESS,
                Status::CapacityExceeded => StatusCode::CAPACITY_EXCEEDED,
            };
            let tag = completion.tag as u32;
            if self.outstanding.remove(&tag) {
                self.post(tag, code, &completion);
            }
        }
    }

    fn post_now(&mut self, tag: u32, code: StatusCode) {
        let now = self.device.now();
        let completion = Completion {
            opcode: crate::nvme::Opcode::Flush,
            tag: u64::from(tag),
            status: Status::Success,
            submitted: now,
            completed: now,
        };
        self.post(tag, code, &completion);
    }

    fn post(&mut self, tag: u32, code: StatusCode, completion: &Completion) {
        let (sqid, cid) = ((tag >> 16) as u16, tag as u16);
        let Some(queue) = self.submission.get(&sqid) else {
            return;
        };
        let waiting = self.device.queued(queue.queue) as u16;
        let cqe = Cqe {
            sqhd: (queue.tail + queue.entries - waiting) % queue.entries,
            sqid,
            cid,
            status: Cqe::status_of(code, false),
            ..Cqe::default()
        };
        if let Some(queue) = self.completion.get_mut(&queue.cqid) {
            queue.post(Posted {
                cqe,
                submitted: completion.submitted,
                completed: completion.completed,
            });
        }
    }
}

fn tag(sqid: u16, cid: u16) -> u32 {
    u32::from(sqid) << 16 | u32::from(cid)
}

/// The status of a command that the device refuses.
fn refused(error: &DeviceError) -> StatusCode {
    match error {
        DeviceError::UnknownNamespace { .. } => StatusCode::INVALID_NAMESPACE,
        DeviceError::OutOfRange { .. } => StatusCode::LBA_OUT_OF_RANGE,
        DeviceError::CapacityExceeded { .. } => StatusCode::CAPACITY_EXCEEDED,
        DeviceError::WindowsDisabled { .. } | DeviceError::WindowNotEarned { .. } => {
            StatusCode::COMMAND_SEQUENCE_ERROR
        }
        DeviceError::UnknownSet { .. } | DeviceError::WindowsUnsupported => {
            StatusCode::INVALID_FIELD
        }
        DeviceError::Directive(_) | DeviceError::DirectiveNotOnWrite => StatusCode::INVALID_FIELD,
        _ => StatusCode::INTERNAL_ERROR,
    }
}
