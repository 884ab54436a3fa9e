//! The controller at the level of the wire.

#![allow(clippy::unwrap_used)]

mod admin;
mod directives;
mod io;
mod latency;
mod queues;

use meldsim::nvme::wire::admin::{CreateQueue, opcode};
use meldsim::nvme::wire::{Cqe, Sqe, StatusCode};
use meldsim::nvme::{Controller, Posted};
use meldsim::{Device, Profile};

/// Logical blocks of the only namespace.
const LBAS: u64 = 1 << 18;

fn controller_of(profile: &Profile) -> Controller {
    let mut device = Device::new(profile).unwrap();
    device.create_namespace(LBAS * 4096).unwrap();
    Controller::new(device)
}

/// A controller with a namespace and a pair of queues, both numbered 1.
fn controller() -> Controller {
    let mut controller = controller_of(&Profile::builtin("melded-tlc-8x8").unwrap());
    create_queues(&mut controller, 1, 64, 2);
    controller
}

fn create_queues(controller: &mut Controller, qid: u16, entries: u16, priority: u8) {
    let create = CreateQueue {
        qid,
        qsize: entries - 1,
        contiguous: true,
        priority,
        cqid: qid,
    };
    for opcode in [opcode::CREATE_IO_CQ, opcode::CREATE_IO_SQ] {
        assert_eq!(
            status(controller, &create.encode(opcode, 0)),
            StatusCode::SUCCESS
        );
    }
}

/// The status of an admin command with a buffer of 4 KiB.
fn status(controller: &mut Controller, sqe: &Sqe) -> StatusCode {
    admin(controller, sqe).0.status_code()
}

/// An admin command with a buffer of 4 KiB; what it returned.
fn admin(controller: &mut Controller, sqe: &Sqe) -> (Cqe, [u8; 4096]) {
    let mut data = [0; 4096];
    let cqe = controller.admin(sqe, &mut data);
    assert_eq!(cqe.cid, sqe.cid);
    (cqe, data)
}

/// The completion of one I/O command on queue 1.
fn io(controller: &mut Controller, sqe: &Sqe, data: &[u8]) -> Posted {
    controller.submit(1, sqe, data).unwrap();
    if let Some(posted) = controller.pop_completion(1) {
        return posted;
    }
    assert!(controller.run_until_completion());
    controller.pop_completion(1).unwrap()
}

fn io_status(controller: &mut Controller, sqe: &Sqe, data: &[u8]) -> StatusCode {
    io(controller, sqe, data).cqe.status_code()
}
