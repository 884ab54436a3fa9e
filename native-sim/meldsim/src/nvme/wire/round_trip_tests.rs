//! Round trips: any bytes parse, and what was parsed survives encoding and parsing.

use proptest::prelude::*;

use super::admin::{ArbitrationFeature, CreateQueue, GetLogPage};
use super::directives::{DirectiveCommand, DirectiveParameters, StreamsParameters};
use super::identify::{IdentifyController, IdentifyNamespace};
use super::io::{DatasetManagement, DsmByte, DsmRange, ReadWrite};
use super::sets::{
    EnduranceGroupLog, NvmSetAttributes, NvmSetList, PredictableLatencyConfig,
    PredictableLatencyLog,
};
use super::{Cqe, Sqe, StatusCode};

/// Any bytes parse, and what was parsed survives encoding and parsing.
macro_rules! round_trips {
    ($($test:ident: $type:ident;)*) => {
        proptest! {
            $(#[test]
            fn $test(bytes in prop::collection::vec(any::<u8>(), $type::BYTES)) {
                let bytes: [u8; $type::BYTES] = bytes.try_into().unwrap();
                let parsed = $type::parse(&bytes);
                let encoded = parsed.encode();
                prop_assert_eq!($type::parse(&encoded), parsed);
                for (written, read) in encoded.iter().zip(&bytes) {
                    prop_assert!(*written == *read || *written == 0, "reserved bytes are zero");
                }
            })*
        }
    };
}

round_trips! {
    submission_entries_round_trip: Sqe;
    completion_entries_round_trip: Cqe;
    ranges_round_trip: DsmRange;
    controllers_round_trip: IdentifyController;
    namespaces_round_trip: IdentifyNamespace;
    sets_round_trip: NvmSetAttributes;
    endurance_logs_round_trip: EnduranceGroupLog;
    latency_logs_round_trip: PredictableLatencyLog;
    latency_configurations_round_trip: PredictableLatencyConfig;
    directive_parameters_round_trip: DirectiveParameters;
    stream_parameters_round_trip: StreamsParameters;
}

proptest! {
    #[test]
    fn command_dwords_round_trip(bytes in prop::collection::vec(any::<u8>(), 64)) {
        let sqe = Sqe::parse(&bytes.try_into().unwrap());
        let rw = ReadWrite::parse(&sqe);
        prop_assert_eq!(ReadWrite::parse(&rw.encode(sqe.opcode, sqe.cid, sqe.nsid)), rw);
        prop_assert_eq!(DsmByte::new(rw.dsm.frequency(), rw.dsm.latency(), rw.dsm.sequential()).0, rw.dsm.0 & 0x7F);
        let directive = DirectiveCommand::parse(&sqe);
        prop_assert_eq!(DirectiveCommand::parse(&directive.encode(0x19, 0, 0)), directive);
        let log = GetLogPage::parse(&sqe);
        prop_assert_eq!(GetLogPage::parse(&log.encode(0)), log);
        let create = CreateQueue::parse(&sqe);
        prop_assert_eq!(CreateQueue::parse(&create.encode(1, 0)), create);
        let arbitration = ArbitrationFeature::parse(sqe.cdw11);
        prop_assert_eq!(arbitration.encode(), sqe.cdw11 & !0xF8);
    }

    #[test]
    fn dataset_management_round_trips(cdw10 in any::<u32>(), cdw11 in any::<u32>(), data in prop::collection::vec(any::<u8>(), 0..4200)) {
        let sqe = Sqe { cdw10, cdw11, ..Sqe::default() };
        let count = (cdw10 & 0xFF) as usize + 1;
        match DatasetManagement::parse(&sqe, &data) {
            Ok(dsm) => {
                prop_assert_eq!(dsm.ranges.len(), count);
                let (again, bytes) = dsm.encode(0, 0);
                prop_assert_eq!(&bytes[..], &data[..count * 16]);
                prop_assert_eq!(DatasetManagement::parse(&again, &bytes), Ok(dsm));
            }
            Err(refused) => {
                prop_assert_eq!(refused, StatusCode::DATA_TRANSFER_ERROR);
                prop_assert!(data.len() < count * 16);
            }
        }
    }

    #[test]
    fn set_lists_round_trip(bytes in prop::collection::vec(any::<u8>(), 4096)) {
        let list = NvmSetList::parse(&bytes.try_into().unwrap());
        prop_assert!(list.0.len() <= NvmSetList::MAX_ENTRIES);
        prop_assert_eq!(NvmSetList::parse(&list.encode()), list);
    }
}
