//! Identify, features and logs.

use meldsim::nvme::wire::admin::{ArbitrationFeature, GetLogPage, feature, opcode};
use meldsim::nvme::wire::identify::{IdentifyController, IdentifyNamespace, cns};
use meldsim::nvme::wire::io::ReadWrite;
use meldsim::nvme::wire::sets::{EnduranceGroupLog, NvmSetList};
use meldsim::nvme::wire::{Sqe, StatusCode};
use meldsim::profile::SetLayout;
use meldsim::{Directive, Pattern, Profile};

use super::{LBAS, admin, controller, controller_of, io_status, status};

fn identify(cns: u8, nsid: u32, from: u16) -> Sqe {
    Sqe {
        opcode: opcode::IDENTIFY,
        cid: 9,
        nsid,
        cdw10: u32::from(cns),
        cdw11: u32::from(from),
        ..Sqe::default()
    }
}

fn four_sets() -> Profile {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.sets.layout = SetLayout::Vertical;
    profile.sets.count = 4;
    profile
}

#[test]
fn the_controller_tells_what_it_is_and_can() {
    let mut controller = controller_of(&four_sets());
    let (cqe, data) = admin(&mut controller, &identify(cns::CONTROLLER, 0, 0));
    assert!(cqe.status_code().is_success());
    let told = IdentifyController::parse(&data);
    assert_eq!(told.ctratt, 1 << 2 | 1 << 4 | 1 << 5);
    assert_eq!((told.oacs, told.oncs), (1 << 5, 1 << 2));
    assert_eq!((told.sqes, told.cqes, told.cntrltype), (0x66, 0x44, 1));
    assert_eq!((told.nn, told.nsetidmax, told.endgidmax), (1, 4, 4));
    assert_eq!(&told.mn[..22], b"meldsim melded-tlc-8x8");
    let capacity = u128::from(controller.device().stats().capacity_pages) * 4096;
    assert_eq!(told.tnvmcap, capacity);
    assert_eq!(told.unvmcap, capacity - u128::from(LBAS) * 4096);
}

#[test]
fn a_namespace_tells_its_size_use_and_grain() {
    let mut controller = controller();
    let random = Directive::read_pattern(Pattern::Random);
    let nsid = controller.device().namespaces()[0].id;
    let device = controller.device_mut();
    device.preload(nsid, 10, 100, random).unwrap();
    let (_, data) = admin(&mut controller, &identify(cns::NAMESPACE, 1, 0));
    let told = IdentifyNamespace::parse(&data);
    assert_eq!((told.nsze, told.ncap, told.nuse), (LBAS, LBAS, 100));
    assert_eq!((told.nvmsetid, told.endgid), (1, 1));
    assert_eq!((told.npwg, told.npwa, told.nows), (0, 0, 2));
    assert_eq!((told.nlbaf, told.flbas, told.lbaf0.lbads), (0, 0, 12));
    for nsid in [0, 2, u32::MAX] {
        let refused = status(&mut controller, &identify(cns::NAMESPACE, nsid, 0));
        assert_eq!(refused, StatusCode::INVALID_NAMESPACE);
    }
    assert_eq!(
        status(&mut controller, &identify(0x77, 1, 0)),
        StatusCode::INVALID_FIELD
    );
    let short = controller.admin(&identify(cns::CONTROLLER, 0, 0), &mut [0; 100]);
    assert_eq!(short.status_code(), StatusCode::DATA_TRANSFER_ERROR);
}

#[test]
fn namespaces_sets_and_groups_are_listed() {
    let mut controller = controller_of(&four_sets());
    for set in [3, 1] {
        let device = controller.device_mut();
        device.create_namespace_in(set, 1 << 30).unwrap();
    }
    let (_, data) = admin(&mut controller, &identify(cns::ACTIVE_NAMESPACES, 1, 0));
    assert_eq!(data[..12], [2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    let (_, data) = admin(&mut controller, &identify(cns::NAMESPACE, 2, 0));
    assert_eq!(IdentifyNamespace::parse(&data).nvmsetid, 4);

    let (_, data) = admin(&mut controller, &identify(cns::NVM_SETS, 0, 2));
    let sets = NvmSetList::parse(&data).0;
    let ids: Vec<u16> = sets.iter().map(|set| set.nvmsetid).collect();
    assert_eq!(ids, [2, 3, 4]);
    let quarter = u128::from(controller.device().stats().capacity_pages) * 1024;
    assert!(sets.iter().all(|set| set.tnvmsetcap == quarter));
    assert_eq!(sets[0].unvmsetcap, quarter - (1 << 30));
    assert_eq!(sets[1].unvmsetcap, quarter);
    // 10 byte-times and 81 us on average and a page on the bus, in units of 100 ns.
    assert_eq!((sets[0].rr4kt, sets[0].ows), (868, 3 * 4096));
    let (_, data) = admin(&mut controller, &identify(cns::ENDURANCE_GROUPS, 0, 3));
    assert_eq!(data[..8], [2, 0, 3, 0, 4, 0, 0, 0]);
}

#[test]
fn an_endurance_group_tells_what_its_set_wrote() {
    let mut controller = controller();
    for cid in 0..3 {
        let write = ReadWrite {
            slba: u64::from(cid) * 1000,
            nlb: 999,
            ..ReadWrite::default()
        };
        assert!(io_status(&mut controller, &write.encode(1, cid, 1), &[]).is_success());
    }
    let get = |lsi| GetLogPage {
        lid: 0x09,
        numd: 127,
        lsi,
        ..GetLogPage::default()
    };
    let (_, data) = admin(&mut controller, &get(1).encode(0));
    let log = EnduranceGroupLog::parse(data.first_chunk().unwrap());
    assert_eq!((log.host_write_commands, log.host_read_commands), (3, 0));
    assert_eq!(
        (log.data_units_written, log.data_units_read),
        (1, 0),
        "12 MB"
    );
    for lsi in [0, 2] {
        let refused = status(&mut controller, &get(lsi).encode(0));
        assert_eq!(refused, StatusCode::INVALID_FIELD);
    }
    // A part of the log, from an offset.
    let part = GetLogPage {
        offset: 112,
        numd: 1,
        ..get(1)
    };
    let (_, data) = admin(&mut controller, &part.encode(0));
    assert_eq!(data[..9], [3, 0, 0, 0, 0, 0, 0, 0, 0]);
    for offset in [2, 516, u64::MAX - 3] {
        let beyond = GetLogPage { offset, ..part };
        let refused = status(&mut controller, &beyond.encode(0));
        assert_eq!(refused, StatusCode::INVALID_FIELD);
    }
    let huge = GetLogPage {
        numd: u32::MAX,
        ..get(1)
    };
    let refused = status(&mut controller, &huge.encode(0));
    assert_eq!(refused, StatusCode::DATA_TRANSFER_ERROR);
    let unknown = GetLogPage {
        lid: 0x55,
        ..get(1)
    };
    let refused = status(&mut controller, &unknown.encode(0));
    assert_eq!(refused, StatusCode::INVALID_LOG_PAGE);
}

fn features(opcode: u8, fid: u8, cdw11: u32) -> Sqe {
    Sqe {
        opcode,
        cid: 1,
        cdw10: u32::from(fid),
        cdw11,
        ..Sqe::default()
    }
}

#[test]
fn arbitration_is_a_feature() {
    let mut controller = controller();
    let get = features(opcode::GET_FEATURES, feature::ARBITRATION, 0);
    let (cqe, _) = admin(&mut controller, &get);
    let expected = ArbitrationFeature {
        burst: 0,
        low: 0,
        medium: 1,
        high: 3,
    };
    assert_eq!(ArbitrationFeature::parse(cqe.dw0), expected);
    for dword in [0xFF02_0307, 0x0102_0303] {
        let set = features(opcode::SET_FEATURES, feature::ARBITRATION, dword);
        assert!(status(&mut controller, &set).is_success());
        assert_eq!(admin(&mut controller, &get).0.dw0, dword);
    }
    assert_eq!(controller.device().arbitration(), (8, [2, 3, 4]));
}

#[test]
fn unknown_features_and_saving_are_refused() {
    let mut controller = controller();
    let queues = features(opcode::SET_FEATURES, feature::NUMBER_OF_QUEUES, 3);
    assert_eq!(admin(&mut controller, &queues).0.dw0, 255 | 255 << 16);
    for opcode in [opcode::GET_FEATURES, opcode::SET_FEATURES] {
        let unknown = status(&mut controller, &features(opcode, 0x55, 0));
        assert_eq!(unknown, StatusCode::INVALID_FIELD);
    }
    let save = Sqe {
        cdw10: 1 << 31 | 1,
        ..features(opcode::SET_FEATURES, 0, 0)
    };
    assert_eq!(
        status(&mut controller, &save),
        StatusCode::FEATURE_NOT_SAVEABLE
    );
    let unknown = Sqe {
        opcode: 0x7F,
        ..Sqe::default()
    };
    assert_eq!(
        status(&mut controller, &unknown),
        StatusCode::INVALID_OPCODE
    );
}
