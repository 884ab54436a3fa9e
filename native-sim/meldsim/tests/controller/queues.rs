//! I/O queues: created, filled, arbitrated, deleted.

use meldsim::Profile;
use meldsim::nvme::wire::admin::{CreateQueue, opcode};
use meldsim::nvme::wire::io::ReadWrite;
use meldsim::nvme::wire::{Sqe, StatusCode};
use meldsim::nvme::{Controller, SubmissionError};
use meldsim::profile::QueueArbitration;

use super::{controller, controller_of, create_queues, status};

const GOOD: CreateQueue = CreateQueue {
    qid: 2,
    qsize: 7,
    contiguous: true,
    priority: 2,
    cqid: 1,
};

fn delete(opcode: u8, qid: u16) -> Sqe {
    Sqe {
        opcode,
        cdw10: u32::from(qid),
        ..Sqe::default()
    }
}

fn read(cid: u16) -> Sqe {
    ReadWrite::default().encode(0x02, cid, 1)
}

#[test]
fn queues_that_cannot_be_are_refused() {
    let mut controller = controller();
    let mut of = |opcode, create: CreateQueue| status(&mut controller, &create.encode(opcode, 0));
    for create in [opcode::CREATE_IO_CQ, opcode::CREATE_IO_SQ] {
        for qid in [0, 1, 257] {
            let refused = of(create, CreateQueue { qid, ..GOOD });
            assert_eq!(refused, StatusCode::INVALID_QUEUE_IDENTIFIER);
        }
        for qsize in [0, u16::MAX] {
            let refused = of(create, CreateQueue { qsize, ..GOOD });
            assert_eq!(refused, StatusCode::INVALID_QUEUE_SIZE);
        }
        let scattered = CreateQueue {
            contiguous: false,
            ..GOOD
        };
        assert_eq!(of(create, scattered), StatusCode::INVALID_FIELD);
    }
    let nowhere = CreateQueue { cqid: 2, ..GOOD };
    assert_eq!(
        of(opcode::CREATE_IO_SQ, nowhere),
        StatusCode::COMPLETION_QUEUE_INVALID
    );
    assert!(of(opcode::CREATE_IO_SQ, GOOD).is_success());
}

#[test]
fn queues_are_deleted_when_nothing_depends_on_them() {
    let mut controller = controller();
    let unknown = status(&mut controller, &delete(opcode::DELETE_IO_SQ, 2));
    assert_eq!(unknown, StatusCode::INVALID_QUEUE_IDENTIFIER);
    let unknown = status(&mut controller, &delete(opcode::DELETE_IO_CQ, 2));
    assert_eq!(unknown, StatusCode::INVALID_QUEUE_IDENTIFIER);
    let used = status(&mut controller, &delete(opcode::DELETE_IO_CQ, 1));
    assert_eq!(used, StatusCode::INVALID_QUEUE_DELETION);
    controller.submit(1, &read(0), &[]).unwrap();
    let busy = status(&mut controller, &delete(opcode::DELETE_IO_SQ, 1));
    assert_eq!(busy, StatusCode::COMMAND_SEQUENCE_ERROR);
    controller.run_until_completion();
    assert!(status(&mut controller, &delete(opcode::DELETE_IO_SQ, 1)).is_success());
    assert!(status(&mut controller, &delete(opcode::DELETE_IO_CQ, 1)).is_success());
    assert_eq!(controller.pop_completion(1), None);
    create_queues(&mut controller, 1, 8, 0);
    controller.submit(1, &read(0), &[]).unwrap();
    assert!(controller.run_until_completion());
    assert!(controller.pop_completion(1).is_some());
}

fn one_at_a_time(arbitration: QueueArbitration) -> Controller {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.host.commands_in_flight = 1;
    profile.host.arbitration = arbitration;
    controller_of(&profile)
}

#[test]
fn heads_tails_and_phases_go_round() {
    let mut controller = one_at_a_time(QueueArbitration::RoundRobin);
    create_queues(&mut controller, 1, 4, 2);
    let (mut heads, mut phases) = (Vec::new(), Vec::new());
    for round in 0..4 {
        for cid in 0..4 {
            // The first one is fetched at once; three of the four places can be filled.
            controller.submit(1, &read(round * 4 + cid), &[]).unwrap();
        }
        let full = controller.submit(1, &read(99), &[]);
        assert_eq!(full, Err(SubmissionError::Full { sqid: 1 }));
        while controller.run_until_completion() {
            let posted = controller.pop_completion(1).unwrap();
            heads.push(posted.cqe.sqhd);
            phases.push(posted.cqe.phase());
        }
    }
    assert_eq!(heads[..6], [2, 3, 0, 0, 2, 3]);
    let expected: Vec<bool> = (0..16).map(|entry| entry / 4 % 2 == 0).collect();
    assert_eq!(phases, expected);
}

#[test]
fn queue_priorities_decide_under_weighted_round_robin_only() {
    let order = |arbitration| {
        let mut controller = one_at_a_time(arbitration);
        create_queues(&mut controller, 1, 16, 3);
        create_queues(&mut controller, 2, 16, 0);
        for cid in 0..4 {
            for sqid in [1, 2] {
                controller.submit(sqid, &read(cid), &[]).unwrap();
            }
        }
        let mut order = Vec::new();
        while controller.run_until_completion() {
            for cqid in [1, 2] {
                order.extend(
                    controller
                        .pop_completion(cqid)
                        .map(|posted| posted.cqe.sqid),
                );
            }
        }
        order
    };
    assert_eq!(
        order(QueueArbitration::RoundRobin),
        [1, 2, 1, 2, 1, 2, 1, 2]
    );
    assert_eq!(
        order(QueueArbitration::WeightedRoundRobin),
        [1, 2, 2, 2, 2, 1, 1, 1]
    );
}
