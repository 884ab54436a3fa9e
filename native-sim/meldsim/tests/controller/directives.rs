//! Directive Send and Directive Receive.

use meldsim::nvme::Controller;
use meldsim::nvme::wire::admin::opcode;
use meldsim::nvme::wire::directives::{
    DirectiveCommand, DirectiveParameters, StreamsParameters, doper, dtype,
};
use meldsim::nvme::wire::io::{ReadWrite, opcode as io_opcode};
use meldsim::nvme::wire::{Sqe, StatusCode};

use super::{admin, controller, io_status, status};

fn send(dtype: u8, doper: u8, dspec: u16, cdw12: u32) -> Sqe {
    DirectiveCommand {
        numd: 0,
        doper,
        dtype,
        dspec,
        cdw12,
    }
    .encode(opcode::DIRECTIVE_SEND, 4, 1)
}

fn receive(dtype: u8, doper: u8, cdw12: u32) -> Sqe {
    DirectiveCommand {
        numd: 1023,
        doper,
        dtype,
        dspec: 0,
        cdw12,
    }
    .encode(opcode::DIRECTIVE_RECEIVE, 4, 1)
}

fn enable(controller: &mut Controller, dtype: u8, on: bool) -> StatusCode {
    let cdw12 = u32::from(on) | u32::from(dtype) << 8;
    status(
        controller,
        &send(dtype::IDENTIFY, doper::IDENTIFY_ENABLE, 0, cdw12),
    )
}

fn write(dtype: u8, dspec: u16) -> Sqe {
    ReadWrite {
        nlb: 299,
        dtype,
        dspec,
        ..ReadWrite::default()
    }
    .encode(io_opcode::WRITE, 1, 1)
}

fn melded(controller: &mut Controller) -> u64 {
    let flush = Sqe {
        opcode: io_opcode::FLUSH,
        nsid: 1,
        ..Sqe::default()
    };
    io_status(controller, &flush, &[]);
    controller.device().stats().melded_mapped_pages
}

#[test]
fn a_directive_works_only_while_it_is_enabled() {
    let mut controller = controller();
    let sequential = write(dtype::READ_PATTERN, 0x51);
    let refused = io_status(&mut controller, &sequential, &[]);
    assert_eq!(refused, StatusCode::INVALID_FIELD);
    assert!(enable(&mut controller, dtype::READ_PATTERN, true).is_success());
    assert!(io_status(&mut controller, &sequential, &[]).is_success());
    assert_eq!(melded(&mut controller), 300);
    for dspec in [0x0003, 0x0101, 0x8001] {
        let refused = io_status(&mut controller, &write(dtype::READ_PATTERN, dspec), &[]);
        assert_eq!(refused, StatusCode::INVALID_FIELD, "{dspec:#x}");
    }
    assert!(enable(&mut controller, dtype::READ_PATTERN, false).is_success());
    let refused = io_status(&mut controller, &sequential, &[]);
    assert_eq!(refused, StatusCode::INVALID_FIELD);
}

#[test]
fn identify_tells_what_is_supported_and_enabled() {
    let mut controller = controller();
    let get = receive(dtype::IDENTIFY, doper::IDENTIFY_PARAMETERS, 0);
    let told = |controller: &mut Controller| {
        let (cqe, data) = admin(controller, &get);
        assert!(cqe.status_code().is_success());
        let told = DirectiveParameters::parse(&data);
        assert_eq!(told.supported[..3], [0x03, 0x80, 0]);
        [told.enabled[0], told.enabled[1]]
    };
    assert_eq!(told(&mut controller), [1, 0]);
    enable(&mut controller, dtype::READ_PATTERN, true);
    assert_eq!(told(&mut controller), [1, 0x80]);
    enable(&mut controller, dtype::STREAMS, true);
    assert_eq!(told(&mut controller), [3, 0x80]);
    for unknown in [dtype::IDENTIFY, 2, 0x1F, 0x20, 0xFF] {
        let refused = enable(&mut controller, unknown, true);
        assert_eq!(refused, StatusCode::INVALID_FIELD);
    }
    // All namespaces at once, and none that does not exist.
    let mut all = send(dtype::IDENTIFY, doper::IDENTIFY_ENABLE, 0, 0x0F00);
    all.nsid = u32::MAX;
    assert!(status(&mut controller, &all).is_success());
    assert_eq!(told(&mut controller), [3, 0]);
    let nowhere = Sqe { nsid: 2, ..get };
    assert_eq!(
        status(&mut controller, &nowhere),
        StatusCode::INVALID_NAMESPACE
    );
    let short = controller.admin(&get, &mut [0; 4092]);
    assert_eq!(short.status_code(), StatusCode::DATA_TRANSFER_ERROR);
}

#[test]
fn streams_are_allocated_opened_and_released() {
    let mut controller = controller();
    let parameters = receive(dtype::STREAMS, doper::STREAMS_PARAMETERS, 0);
    assert_eq!(
        status(&mut controller, &parameters),
        StatusCode::INVALID_FIELD
    );
    enable(&mut controller, dtype::STREAMS, true);
    let told = |controller: &mut Controller| {
        let (_, data) = admin(controller, &parameters);
        StreamsParameters::parse(data.first_chunk().unwrap())
    };
    let before = told(&mut controller);
    assert_eq!((before.msl, before.nssa, before.sws), (16, 16, 3));
    let allocate = |streams| receive(dtype::STREAMS, doper::STREAMS_ALLOCATE, streams);
    assert_eq!(admin(&mut controller, &allocate(20)).0.dw0, 16);
    assert_eq!(
        status(&mut controller, &allocate(1)),
        StatusCode::INVALID_FIELD
    );
    for stream in [2, 16, 2] {
        assert!(io_status(&mut controller, &write(dtype::STREAMS, stream), &[]).is_success());
    }
    // No stream, and one that does not exist.
    assert!(io_status(&mut controller, &write(dtype::STREAMS, 0), &[]).is_success());
    let refused = io_status(&mut controller, &write(dtype::STREAMS, 17), &[]);
    assert_eq!(refused, StatusCode::INVALID_FIELD);
    let after = told(&mut controller);
    assert_eq!(
        (after.nssa, after.nsa, after.nso, after.nsso),
        (0, 16, 2, 2)
    );
    let get_status = receive(dtype::STREAMS, doper::STREAMS_STATUS, 0);
    assert_eq!(
        admin(&mut controller, &get_status).1[..6],
        [2, 0, 2, 0, 16, 0]
    );
    let release = send(dtype::STREAMS, doper::STREAMS_RELEASE_IDENTIFIER, 2, 0);
    assert!(status(&mut controller, &release).is_success());
    // What it had gathered is programmed, with padding.
    while let Some(next) = controller.device().next_event() {
        controller.advance_to(next);
    }
    assert!(controller.device().stats().padded_pages > 0);
    assert_eq!(
        admin(&mut controller, &get_status).1[..6],
        [1, 0, 16, 0, 0, 0]
    );
    let release = send(dtype::STREAMS, doper::STREAMS_RELEASE_RESOURCES, 0, 0);
    assert!(status(&mut controller, &release).is_success());
    let released = told(&mut controller);
    assert_eq!((released.nssa, released.nsa, released.nso), (16, 0, 0));
}

#[test]
fn streams_are_shared_among_namespaces() {
    let mut controller = controller();
    controller.device_mut().create_namespace(1 << 30).unwrap();
    let mut all = send(dtype::IDENTIFY, doper::IDENTIFY_ENABLE, 0, 0x0101);
    all.nsid = u32::MAX;
    assert!(status(&mut controller, &all).is_success());
    let allocate = |nsid, streams| Sqe {
        nsid,
        ..receive(dtype::STREAMS, doper::STREAMS_ALLOCATE, streams)
    };
    assert_eq!(admin(&mut controller, &allocate(1, 16)).0.dw0, 16);
    assert_eq!(
        status(&mut controller, &allocate(2, 1)),
        StatusCode::STREAM_RESOURCE_ALLOCATION_FAILED
    );
    // Disabling them releases what was allocated.
    enable(&mut controller, dtype::STREAMS, false);
    assert_eq!(admin(&mut controller, &allocate(2, 3)).0.dw0, 3);
}

#[test]
fn a_stream_can_be_bound_to_a_pattern() {
    let mut controller = controller();
    enable(&mut controller, dtype::STREAMS, true);
    let bind = |stream, pattern| {
        send(
            dtype::READ_PATTERN,
            doper::PATTERN_BIND_STREAM,
            stream,
            pattern,
        )
    };
    assert_eq!(
        status(&mut controller, &bind(7, 1)),
        StatusCode::INVALID_FIELD,
        "not enabled"
    );
    enable(&mut controller, dtype::READ_PATTERN, true);
    assert!(status(&mut controller, &bind(7, 1)).is_success());
    for (stream, pattern) in [(0, 1), (17, 1), (7, 3), (7, 0x100), (7, 0x1_0001)] {
        let refused = status(&mut controller, &bind(stream, pattern));
        assert_eq!(refused, StatusCode::INVALID_FIELD);
    }
    let get = receive(dtype::READ_PATTERN, doper::PATTERN_PARAMETERS, 0);
    let (_, data) = admin(&mut controller, &get);
    assert_eq!(data[..9], [0, 0, 0, 0, 0, 0, 0, 1, 0]);
    io_status(&mut controller, &write(dtype::STREAMS, 6), &[]);
    assert_eq!(melded(&mut controller), 0);
    io_status(&mut controller, &write(dtype::STREAMS, 7), &[]);
    assert_eq!(melded(&mut controller), 300);
}

#[test]
fn unknown_operations_are_refused() {
    let mut controller = controller();
    enable(&mut controller, dtype::STREAMS, true);
    enable(&mut controller, dtype::READ_PATTERN, true);
    for (dtype, doper) in [(0, 2), (1, 9), (0x0F, 2), (2, 1), (0xFF, 1)] {
        for sqe in [send(dtype, doper, 1, 0), receive(dtype, doper, 1)] {
            assert_eq!(status(&mut controller, &sqe), StatusCode::INVALID_FIELD);
        }
    }
}
