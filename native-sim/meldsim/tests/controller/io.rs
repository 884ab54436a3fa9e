//! Reads, writes, flushes and Dataset Management.

use meldsim::nvme::SubmissionError;
use meldsim::nvme::wire::io::{DatasetManagement, DsmByte, DsmRange, ReadWrite, opcode};
use meldsim::nvme::wire::{Sqe, StatusCode};
use proptest::prelude::*;

use super::{LBAS, controller, io, io_status};

fn write(slba: u64, blocks: u16) -> ReadWrite {
    ReadWrite {
        slba,
        nlb: blocks - 1,
        ..ReadWrite::default()
    }
}

#[test]
fn data_written_can_be_read_and_is_flushed() {
    let mut controller = controller();
    let sqe = write(5, 300).encode(opcode::WRITE, 1, 1);
    assert!(io_status(&mut controller, &sqe, &[]).is_success());
    let flush = Sqe {
        opcode: opcode::FLUSH,
        cid: 2,
        nsid: 1,
        ..Sqe::default()
    };
    let flushed = io(&mut controller, &flush, &[]);
    assert!(flushed.latency().as_us() > 5001);
    let read = io(
        &mut controller,
        &write(5, 300).encode(opcode::READ, 3, 1),
        &[],
    );
    assert!(read.cqe.status_code().is_success());
    assert_eq!((read.cqe.sqid, read.cqe.cid), (1, 3));
    let stats = controller.device().stats();
    assert_eq!(stats.page_reads + stats.melded_pages_read, 300);
    assert_eq!(stats.host_written_bytes, 300 * 4096);
}

#[test]
fn what_is_wrong_is_told_by_the_status() {
    let mut controller = controller();
    let cases = [
        (write(LBAS, 1).encode(1, 0, 1), StatusCode::LBA_OUT_OF_RANGE),
        (
            write(u64::MAX, 1).encode(2, 0, 1),
            StatusCode::LBA_OUT_OF_RANGE,
        ),
        (
            write(LBAS - 1, 2).encode(2, 0, 1),
            StatusCode::LBA_OUT_OF_RANGE,
        ),
        (write(0, 1).encode(1, 0, 2), StatusCode::INVALID_NAMESPACE),
        (
            write(0, 1).encode(2, 0, u32::MAX),
            StatusCode::INVALID_NAMESPACE,
        ),
        (write(0, 1).encode(0x55, 0, 1), StatusCode::INVALID_OPCODE),
        (
            ReadWrite {
                prinfo: 8,
                ..write(0, 1)
            }
            .encode(1, 0, 1),
            StatusCode::INVALID_FIELD,
        ),
        (
            Sqe {
                flags: 1,
                ..write(0, 1).encode(1, 0, 1)
            },
            StatusCode::INVALID_FIELD,
        ),
        (
            ReadWrite {
                dtype: 2,
                ..write(0, 1)
            }
            .encode(1, 0, 1),
            StatusCode::INVALID_FIELD,
        ),
        (Sqe::default(), StatusCode::INVALID_NAMESPACE),
    ];
    for (sqe, expected) in cases {
        let posted = io(&mut controller, &sqe, &[]);
        assert_eq!(posted.cqe.status_code(), expected, "{sqe:?}");
        assert!(posted.cqe.do_not_retry());
        assert_eq!(posted.submitted, posted.completed);
    }
    assert_eq!(controller.device().stats().write_commands, 0);
    let unknown = controller.submit(7, &write(0, 1).encode(1, 0, 1), &[]);
    assert_eq!(unknown, Err(SubmissionError::UnknownQueue { sqid: 7 }));
}

#[test]
fn a_command_identifier_is_in_use_until_its_completion() {
    let mut controller = controller();
    let read = write(0, 1).encode(opcode::READ, 5, 1);
    controller.submit(1, &read, &[]).unwrap();
    controller.submit(1, &read, &[]).unwrap();
    let conflict = controller.pop_completion(1).unwrap();
    assert_eq!(conflict.cqe.status_code(), StatusCode::COMMAND_ID_CONFLICT);
    assert!(controller.run_until_completion());
    let posted = controller.pop_completion(1).unwrap();
    assert!(posted.cqe.status_code().is_success());
    assert!(io_status(&mut controller, &read, &[]).is_success());
}

#[test]
fn a_write_that_does_not_fit_may_be_tried_again() {
    let mut controller = controller();
    let device = controller.device_mut();
    let capacity = device.stats().capacity_pages;
    let big = device.create_namespace((capacity + 100) * 4096).unwrap();
    let none = meldsim::Directive::NONE;
    device.preload(big, 0, capacity, none).unwrap();
    let posted = io(&mut controller, &write(0, 1).encode(1, 1, 1), &[]);
    assert_eq!(posted.cqe.status_code(), StatusCode::CAPACITY_EXCEEDED);
    assert!(!posted.cqe.do_not_retry());
}

fn range(slba: u64, length: u32, attributes: u32) -> DsmRange {
    DsmRange {
        attributes,
        length,
        slba,
    }
}

#[test]
fn ranges_are_deallocated_all_together_or_not_at_all() {
    let mut controller = controller();
    let sqe = write(0, 1000).encode(opcode::WRITE, 1, 1);
    assert!(io_status(&mut controller, &sqe, &[]).is_success());
    let dsm = |ranges: Vec<DsmRange>| {
        DatasetManagement {
            ad: true,
            ranges,
            ..DatasetManagement::default()
        }
        .encode(2, 1)
    };
    let beyond = dsm(vec![range(0, 10, 0), range(LBAS - 1, 2, 0)]);
    assert_eq!(
        io_status(&mut controller, &beyond.0, &beyond.1),
        StatusCode::LBA_OUT_OF_RANGE
    );
    assert_eq!(controller.device().stats().mapped_pages, 1000);

    let ranges = (0..256).map(|index| range(index * 3, 2, 0)).collect();
    let (sqe, data) = dsm(ranges);
    let posted = io(&mut controller, &sqe, &data);
    assert!(posted.cqe.status_code().is_success());
    assert_eq!(posted.latency().as_us(), 10);
    let stats = controller.device().stats();
    assert_eq!((stats.mapped_pages, stats.deallocate_commands), (488, 1));

    let (sqe, data) = dsm(vec![range(5, 0, 0)]);
    assert!(io_status(&mut controller, &sqe, &data).is_success());
    assert_eq!(
        io_status(&mut controller, &sqe, &data[..15]),
        StatusCode::DATA_TRANSFER_ERROR
    );
}

#[test]
fn hints_need_no_directive_and_reach_the_flash() {
    let mut controller = controller();
    let byte = ReadWrite {
        dsm: DsmByte::new(DsmByte::AF_READ_MOSTLY, 0, true),
        ..write(0, 300)
    };
    let flush = Sqe {
        opcode: opcode::FLUSH,
        nsid: 1,
        ..Sqe::default()
    };
    io(&mut controller, &byte.encode(opcode::WRITE, 1, 1), &[]);
    io(&mut controller, &flush, &[]);
    assert_eq!(controller.device().stats().melded_mapped_pages, 300);

    let attributes = DsmRange::attributes_of(3, 0, true, false, false, 255);
    let (sqe, data) = DatasetManagement {
        idr: true,
        ranges: vec![range(1000, 600, attributes)],
        ..DatasetManagement::default()
    }
    .encode(2, 1);
    assert!(io_status(&mut controller, &sqe, &data).is_success());
    for slba in [1000, 1300, 2000] {
        io(
            &mut controller,
            &write(slba, 300).encode(opcode::WRITE, 1, 1),
            &[],
        );
    }
    io(&mut controller, &flush, &[]);
    assert_eq!(controller.device().stats().melded_mapped_pages, 900);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever is submitted completes once, and nothing panics.
    #[test]
    fn any_entries_are_answered(entries in prop::collection::vec((prop::collection::vec(any::<u8>(), 64), 0..12u8, any::<bool>()), 1..60)) {
        let mut controller = controller();
        let (mut submitted, mut completed) = (0, 0);
        for (bytes, opcode, plausible) in entries {
            let mut sqe = Sqe::parse(&bytes.try_into().unwrap());
            if plausible {
                sqe.opcode = opcode;
                sqe.nsid = 1;
                sqe.flags = 0;
                sqe.cdw10 %= 1 << 18;
                sqe.cdw11 %= 8;
                sqe.cdw12 &= 0x43FF;
            }
            let data = [sqe.cdw13 as u8; 4096];
            let mut buffer = data;
            // Queues may come and go, but not the one that is used.
            let cqe = controller.admin(&Sqe { cdw10: sqe.cdw10 & !1, ..sqe }, &mut buffer);
            prop_assert_eq!(cqe.cid, sqe.cid);
            controller.submit(1, &sqe, &data).unwrap();
            submitted += 1;
            if submitted % 8 == 0 {
                controller.run_until_completion();
            }
        }
        while controller.run_until_completion() {}
        while controller.pop_completion(1).is_some() {
            completed += 1;
        }
        prop_assert_eq!(submitted, completed);
    }
}
