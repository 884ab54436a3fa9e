//! Golden bytes: structures as the specification draws them, at the public headers' offsets.

use super::admin::{ArbitrationFeature, CreateQueue, GetLogPage};
use super::directives::{DirectiveCommand, DirectiveParameters, StreamsParameters, streams_status};
use super::identify::{IdentifyController, IdentifyNamespace, LbaFormat, namespace_list};
use super::io::{DatasetManagement, DsmByte, DsmRange, ReadWrite};
use super::sets::{
    EnduranceGroupLog, NvmSetAttributes, NvmSetList, PredictableLatencyConfig,
    PredictableLatencyLog, endurance_group_list,
};
use super::{Cqe, Sqe, StatusCode};

/// What differs from zero, as (offset, bytes): how the public headers' offsets are written down.
fn nonzero(bytes: &[u8]) -> Vec<(usize, &[u8])> {
    let mut runs = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = bytes[at..].iter().position(|&b| b == 0);
        let end = end.map_or(bytes.len(), |length| at + length);
        if end > at {
            runs.push((at, &bytes[at..end]));
        }
        at = end + 1;
    }
    runs
}

#[test]
fn a_write_is_encoded_as_the_specification_draws_it() {
    let write = ReadWrite {
        slba: 0x1122_3344_5566_7788,
        nlb: 0x0102,
        dtype: 0xF,
        prinfo: 0b1010,
        fua: true,
        lr: true,
        dsm: DsmByte::new(DsmByte::AF_READ_MOSTLY, 2, true),
        dspec: 0x0051,
    };
    let bytes = write.encode(0x01, 0xBEEF, 0xA1B2_C3D4).encode();
    let mut expected = [0u8; 64];
    expected[..8].copy_from_slice(&[0x01, 0, 0xEF, 0xBE, 0xD4, 0xC3, 0xB2, 0xA1]);
    expected[40..48].copy_from_slice(&[0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]);
    expected[48..52].copy_from_slice(&[0x02, 0x01, 0xF0, 0xE8]);
    expected[52..56].copy_from_slice(&[0x63, 0x00, 0x51, 0x00]);
    assert_eq!(bytes, expected);
    assert_eq!(ReadWrite::parse(&Sqe::parse(&bytes)), write);
}

#[test]
fn a_completion_is_encoded_as_the_specification_draws_it() {
    let cqe = Cqe {
        dw0: 0x0403_0201,
        dw1: 0,
        sqhd: 0x1234,
        sqid: 2,
        cid: 0xBEEF,
        status: Cqe::status_of(StatusCode::STREAM_RESOURCE_ALLOCATION_FAILED, true),
    };
    let bytes = cqe.encode();
    // SC 7Fh in bits 8:1, SCT 1 in bits 11:9, DNR in bit 15, phase in bit 0.
    assert_eq!(
        bytes,
        [
            1, 2, 3, 4, 0, 0, 0, 0, 0x34, 0x12, 2, 0, 0xEF, 0xBE, 0xFF, 0x82
        ]
    );
    let parsed = Cqe::parse(&bytes);
    assert_eq!(
        parsed.status_code(),
        StatusCode::STREAM_RESOURCE_ALLOCATION_FAILED
    );
    assert!(parsed.phase() && parsed.do_not_retry());
    let full = Cqe::status_of(StatusCode::CAPACITY_EXCEEDED, false);
    assert_eq!(full, 0x81 << 1, "may be tried again after a deallocation");
}

#[test]
fn dataset_management_ranges_are_encoded_as_the_specification_draws_them() {
    let attributes = DsmRange::attributes_of(3, 1, true, false, true, 255);
    assert_eq!(attributes, 0xFF00_0513);
    let dsm = DatasetManagement {
        idr: true,
        idw: false,
        ad: true,
        ranges: vec![
            DsmRange {
                attributes,
                length: 0x8000,
                slba: 0x1_0000_0000,
            },
            DsmRange::default(),
        ],
    };
    let (sqe, data) = dsm.encode(7, 1);
    assert_eq!((sqe.opcode, sqe.cdw10, sqe.cdw11), (0x09, 1, 0b101));
    let first = [0x13, 0x05, 0, 0xFF, 0, 0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
    assert_eq!(data[..16], first);
    assert_eq!(data.len(), 32);
    assert_eq!(DatasetManagement::parse(&sqe, &data), Ok(dsm));
    assert_eq!(
        DatasetManagement::parse(&sqe, &data[..31]),
        Err(StatusCode::DATA_TRANSFER_ERROR)
    );
    let most = Sqe { cdw10: 255, ..sqe };
    let parsed = DatasetManagement::parse(&most, &[0; 4096]).map(|dsm| dsm.ranges.len());
    assert_eq!(parsed, Ok(256));
}

#[test]
fn directive_commands_are_encoded_as_the_specification_draws_them() {
    let enable = DirectiveCommand {
        numd: 0,
        doper: 1,
        dtype: 0,
        dspec: 0,
        cdw12: 1 | 0x0F << 8,
    };
    assert!(enable.endir());
    assert_eq!(enable.tdtype(), 0x0F);
    let sqe = enable.encode(0x19, 3, 1);
    assert_eq!(
        (sqe.opcode, sqe.cdw11, sqe.cdw12),
        (0x19, 0x0000_0001, 0x0F01)
    );
    let allocate = DirectiveCommand {
        doper: 3,
        dtype: 1,
        dspec: 0x0405,
        cdw12: 16,
        ..DirectiveCommand::default()
    };
    let sqe = allocate.encode(0x1A, 3, 1);
    assert_eq!(sqe.cdw11, 0x0405_0103);
    assert_eq!(DirectiveCommand::parse(&sqe), allocate);
    assert_eq!(allocate.nsr(), 16);

    let mut parameters = DirectiveParameters::default();
    parameters.supported[..2].copy_from_slice(&[0x03, 0x80]);
    parameters.enabled[0] = 0x01;
    parameters.persistent[31] = 0x40;
    let expected: [(usize, &[u8]); 3] = [(0, &[0x03, 0x80]), (32, &[0x01]), (95, &[0x40])];
    assert_eq!(nonzero(&parameters.encode()), expected);

    let streams = StreamsParameters {
        msl: 0x0101,
        nssa: 0x0202,
        nsso: 0x0303,
        nssc: 4,
        sws: 0x0505_0505,
        sgs: 0x0606,
        nsa: 0x0707,
        nso: 0x0808,
    };
    let expected: [(usize, &[u8]); 2] = [
        (0, &[1, 1, 2, 2, 3, 3, 4]),
        (16, &[5, 5, 5, 5, 6, 6, 7, 7, 8, 8]),
    ];
    assert_eq!(nonzero(&streams.encode()), expected);
    let status = streams_status([1u16, 0x0302].into_iter());
    assert_eq!(status[..8], [2, 0, 1, 0, 2, 3, 0, 0]);
}

#[test]
fn identify_controller_has_its_fields_where_the_public_headers_have_them() {
    let controller = IdentifyController {
        vid: 0x0101,
        ssvid: 0x0202,
        sn: IdentifyController::ascii("SN"),
        mn: IdentifyController::ascii("MN"),
        fr: IdentifyController::ascii("1.0"),
        rab: 3,
        mdts: 4,
        cntlid: 0x0505,
        ver: 0x0606_0606,
        ctratt: 0x0707_0707,
        cntrltype: 8,
        oacs: 0x0909,
        lpa: 0x0A,
        tnvmcap: u128::from_le_bytes([0x0B; 16]),
        unvmcap: u128::from_le_bytes([0x0C; 16]),
        nsetidmax: 0x0D0D,
        endgidmax: 0x0E0E,
        sqes: 0x66,
        cqes: 0x44,
        maxcmd: 0x0F0F,
        nn: 0x1010_1010,
        oncs: 0x1111,
        vwc: 0x12,
        subnqn: [0x13; 256],
    };
    let bytes = controller.encode();
    let starts: Vec<(usize, u8)> = nonzero(&bytes)
        .iter()
        .map(|(at, run)| (*at, run[0]))
        .collect();
    assert_eq!(
        starts,
        [
            (0, 1),
            (77, 4),
            (96, 7),
            (111, 8),
            (256, 9),
            (261, 0x0A),
            (280, 0x0B),
            (338, 0x0D),
            (512, 0x66),
            (525, 0x12),
            (768, 0x13)
        ]
    );
    assert_eq!(&bytes[4..24], b"SN                  ");
    assert_eq!(&bytes[24..26], b"MN");
    assert_eq!(&bytes[64..73], b"1.0     \x03");
    assert_eq!(bytes[77..84], [4, 5, 5, 6, 6, 6, 6]);
    assert_eq!(bytes[295..297], [0x0B, 0x0C]);
    assert_eq!(bytes[338..342], [0x0D, 0x0D, 0x0E, 0x0E]);
    assert_eq!(
        bytes[512..522],
        [0x66, 0x44, 0x0F, 0x0F, 0x10, 0x10, 0x10, 0x10, 0x11, 0x11]
    );
    assert_eq!(bytes[1023..1025], [0x13, 0]);
    assert_eq!(IdentifyController::parse(&bytes), controller);
}

#[test]
fn identify_namespace_has_its_fields_where_the_public_headers_have_them() {
    let namespace = IdentifyNamespace {
        nsze: u64::from_le_bytes([1; 8]),
        ncap: u64::from_le_bytes([2; 8]),
        nuse: u64::from_le_bytes([3; 8]),
        nsfeat: 4,
        nlbaf: 5,
        flbas: 6,
        dlfeat: 7,
        nvmcap: u128::from_le_bytes([8; 16]),
        npwg: 0x0909,
        npwa: 0x0A0A,
        npdg: 0x0B0B,
        npda: 0x0C0C,
        nows: 0x0D0D,
        nvmsetid: 0x0E0E,
        endgid: 0x0F0F,
        lbaf0: LbaFormat {
            metadata_bytes: 0,
            lbads: 12,
            relative_performance: 1,
        },
    };
    let bytes = namespace.encode();
    let starts: Vec<(usize, u8)> = nonzero(&bytes)
        .iter()
        .map(|(at, run)| (*at, run[0]))
        .collect();
    assert_eq!(starts, [(0, 1), (33, 7), (48, 8), (100, 0x0E), (130, 12)]);
    assert_eq!(bytes[7..9], [1, 2]);
    assert_eq!(bytes[15..17], [2, 3]);
    assert_eq!(bytes[23..28], [3, 4, 5, 6, 0]);
    assert_eq!(
        bytes[62..75],
        [8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 0]
    );
    assert_eq!(bytes[100..105], [14, 14, 15, 15, 0]);
    assert_eq!(bytes[128..133], [0, 0, 12, 1, 0]);
    assert_eq!(IdentifyNamespace::parse(&bytes), namespace);
    let list = namespace_list([1, 0x0405_0607].into_iter());
    assert_eq!(list[..9], [1, 0, 0, 0, 7, 6, 5, 4, 0]);
}

#[test]
fn nvm_set_and_endurance_structures_are_where_the_public_headers_have_them() {
    let set = NvmSetAttributes {
        nvmsetid: 0x0101,
        endgid: 0x0202,
        rr4kt: 0x0303_0303,
        ows: 0x0404_0404,
        tnvmsetcap: u128::from_le_bytes([5; 16]),
        unvmsetcap: u128::from_le_bytes([6; 16]),
    };
    let expected: [(usize, &[u8]); 2] = [
        (0, &[1, 1, 2, 2]),
        (
            8,
            &[
                [3; 4], [4; 4], [5; 4], [5; 4], [5; 4], [5; 4], [6; 4], [6; 4], [6; 4], [6; 4],
            ]
            .concat(),
        ),
    ];
    assert_eq!(nonzero(&set.encode()), expected);
    let list = NvmSetList(vec![set; 2]).encode();
    assert_eq!((list[0], list[1], list[127]), (2, 0, 0));
    assert_eq!(list[128..256], set.encode());
    assert_eq!(list[256..384], set.encode());
    assert_eq!(list[384], 0);
    let full = NvmSetList(vec![set; 40]).encode();
    assert_eq!(full[0], 31);
    assert_eq!(full[4096 - 128..], set.encode());
    assert_eq!(
        endurance_group_list(&[1, 0x0203])[..7],
        [2, 0, 1, 0, 3, 2, 0]
    );

    let mut log = EnduranceGroupLog::parse(&[9; 512]);
    log.critical_warning = 1;
    let bytes = log.encode();
    let runs: Vec<(usize, usize)> = nonzero(&bytes)
        .iter()
        .map(|(at, run)| (*at, run.len()))
        .collect();
    assert_eq!(runs, [(0, 1), (3, 3), (32, 160)]);
    let log = EnduranceGroupLog {
        data_units_written: 7,
        ..EnduranceGroupLog::default()
    };
    assert_eq!(nonzero(&log.encode()), [(64, [7u8].as_slice())]);
    assert_eq!(EnduranceGroupLog::units(1_000_000_001), 2);
}

#[test]
fn predictable_latency_structures_are_where_the_public_headers_have_them() {
    let log = PredictableLatencyLog {
        status: 1,
        event_type: 0x4002,
        dtwin_reads_typical: 3,
        dtwin_writes_typical: 4,
        dtwin_time_maximum_ms: 5,
        ndwin_time_minimum_high_ms: 6,
        ndwin_time_minimum_low_ms: 7,
        dtwin_reads_estimate: 8,
        dtwin_writes_estimate: 9,
        dtwin_time_estimate_ms: 10,
    };
    let bytes = log.encode();
    let expected: [(usize, &[u8]); 10] = [
        (0, &[1]),
        (2, &[2, 0x40]),
        (32, &[3]),
        (40, &[4]),
        (48, &[5]),
        (56, &[6]),
        (64, &[7]),
        (128, &[8]),
        (136, &[9]),
        (144, &[10]),
    ];
    assert_eq!(nonzero(&bytes), expected);
    assert_eq!(PredictableLatencyLog::parse(&bytes), log);
    let config = PredictableLatencyConfig {
        enable_event: 0xC007,
        reads_threshold: 1,
        writes_threshold: 2,
        time_threshold_ms: 3,
    };
    let expected: [(usize, &[u8]); 4] = [(0, &[7, 0xC0]), (32, &[1]), (40, &[2]), (48, &[3])];
    assert_eq!(nonzero(&config.encode()), expected);
}

#[test]
fn admin_dwords_are_encoded_as_the_specification_draws_them() {
    let log = GetLogPage {
        lid: 0x0A,
        retain: true,
        numd: 0x0001_007F,
        lsi: 3,
        offset: 0x2_0000_0004,
    };
    let sqe = log.encode(1);
    assert_eq!((sqe.cdw10, sqe.cdw11), (0x007F_800A, 0x0003_0001));
    assert_eq!((sqe.cdw12, sqe.cdw13), (4, 2));
    assert_eq!(GetLogPage::parse(&sqe), log);
    let arbitration = ArbitrationFeature {
        burst: 3,
        low: 0x11,
        medium: 0x22,
        high: 0x33,
    };
    assert_eq!(arbitration.encode(), 0x3322_1103);
    let create = CreateQueue {
        qid: 5,
        qsize: 0x3F,
        contiguous: true,
        priority: 2,
        cqid: 6,
    };
    let sqe = create.encode(0x01, 1);
    assert_eq!((sqe.cdw10, sqe.cdw11), (0x003F_0005, 0x0006_0005));
    assert_eq!(CreateQueue::parse(&sqe), create);
}
