//! Identify.

use super::Controller;
use crate::nvme::NamespaceId;
use crate::nvme::wire::identify::{
    IDENTIFY_BYTES, IdentifyController, IdentifyNamespace, LbaFormat, cns, namespace_list,
};
use crate::nvme::wire::sets::{NvmSetAttributes, NvmSetList, endurance_group_list};
use crate::nvme::wire::{Sqe, StatusCode};

/// NVM Express 2.0 (VER: major 31:16, minor 15:8).
const VERSION: u32 = 2 << 16;
/// An I/O controller.
const CNTRLTYPE_IO: u8 = 1;
/// Queue entries have 2^6 and 2^4 bytes, required and at most.
const SQES: u8 = 0x66;
const CQES: u8 = 0x44;
const SUBNQN: &str = "nqn.2026-01.io.github.hdfs-meld:meldsim";
/// No volatile write cache (the write buffer survives a power loss); a flush of all namespaces is
/// refused (bits 2:1).
const VWC: u8 = 0b100;
/// A deallocated block reads as zeros.
const DLFEAT_ZEROS: u8 = 1;

impl Controller {
    pub(super) fn identify(&mut self, sqe: &Sqe, data: &mut [u8]) -> Result<u32, StatusCode> {
        let from = sqe.cdw11 as u16;
        let structure = match sqe.cdw10 as u8 {
            cns::CONTROLLER => self.identify_controller().encode(),
            cns::NAMESPACE => self.identify_namespace(NamespaceId(sqe.nsid))?.encode(),
            cns::ACTIVE_NAMESPACES if sqe.nsid >= u32::MAX - 1 => {
                return Err(StatusCode::INVALID_NAMESPACE);
            }
            cns::ACTIVE_NAMESPACES => {
                let ids = self
                    .device
                    .namespaces()
                    .iter()
                    .map(|namespace| namespace.id.0);
                namespace_list(ids.filter(|&id| id > sqe.nsid))
            }
            cns::NVM_SETS => {
                let sets = self.set_ids().filter(|&set| set >= from);
                let sets = sets.take(NvmSetList::MAX_ENTRIES);
                NvmSetList(sets.map(|set| self.set_attributes(set)).collect()).encode()
            }
            cns::ENDURANCE_GROUPS => {
                let groups: Vec<u16> = self.set_ids().filter(|&group| group >= from).collect();
                endurance_group_list(&groups)
            }
            _ => return Err(StatusCode::INVALID_FIELD),
        };
        let data = data.get_mut(..IDENTIFY_BYTES);
        let data = data.ok_or(StatusCode::DATA_TRANSFER_ERROR)?;
        data.copy_from_slice(&structure);
        Ok(0)
    }

    /// NVM sets are numbered from 1. Wear is levelled inside a set, so each is an endurance group
    /// of its own, with the same number.
    pub(super) fn set_ids(&self) -> impl Iterator<Item = u16> {
        1..=self.set_count()
    }

    /// There are fewer units than 16 bits can number.
    pub(super) fn set_count(&self) -> u16 {
        self.device.sets() as u16
    }

    fn identify_controller(&self) -> IdentifyController {
        let total: u64 = self.set_ids().map(|set| self.set_capacity(set)).sum();
        let used: u64 = self.set_ids().map(|set| self.set_allocated(set)).sum();
        let mut subnqn = [0; 256];
        subnqn[..SUBNQN.len()].copy_from_slice(SUBNQN.as_bytes());
        IdentifyController {
            sn: IdentifyController::ascii("MELDSIM0000000000001"),
            mn: IdentifyController::ascii(&format!("meldsim {}", self.device.profile().name)),
            fr: IdentifyController::ascii(env!("CARGO_PKG_VERSION")),
            cntlid: 1,
            ver: VERSION,
            ctratt: IdentifyController::CTRATT_NVM_SETS
                | IdentifyController::CTRATT_ENDURANCE_GROUPS
                | IdentifyController::CTRATT_PREDICTABLE_LATENCY,
            cntrltype: CNTRLTYPE_IO,
            oacs: IdentifyController::OACS_DIRECTIVES,
            tnvmcap: u128::from(total),
            unvmcap: u128::from(total.saturating_sub(used)),
            nsetidmax: self.set_count(),
            endgidmax: self.set_count(),
            sqes: SQES,
            cqes: CQES,
            nn: self.device.namespaces().len() as u32,
            vwc: VWC,
            oncs: IdentifyController::ONCS_DATASET_MANAGEMENT,
            subnqn,
            ..IdentifyController::default()
        }
    }

    fn identify_namespace(&self, nsid: NamespaceId) -> Result<IdentifyNamespace, StatusCode> {
        let Some(namespace) = self.device.namespace(nsid) else {
            return Err(StatusCode::INVALID_NAMESPACE);
        };
        let lba_bytes = namespace.lba_bytes;
        let zero_based = |bytes: u64| (bytes / lba_bytes).clamp(1, 1 << 16).wrapping_sub(1) as u16;
        let set = self.set_of(nsid);
        Ok(IdentifyNamespace {
            nsze: namespace.size_lbas,
            ncap: namespace.size_lbas,
            nuse: self.device.allocated_lbas(nsid),
            nsfeat: IdentifyNamespace::NSFEAT_THIN | IdentifyNamespace::NSFEAT_OPTIMAL_PERFORMANCE,
            dlfeat: DLFEAT_ZEROS,
            nvmcap: u128::from(namespace.size_lbas) * u128::from(lba_bytes),
            npwg: zero_based(namespace.page_bytes),
            npwa: zero_based(namespace.page_bytes),
            npdg: zero_based(namespace.page_bytes),
            npda: zero_based(namespace.page_bytes),
            nows: zero_based(namespace.wordline_bytes),
            nvmsetid: set,
            endgid: set,
            lbaf0: LbaFormat {
                lbads: lba_bytes.trailing_zeros() as u8,
                ..LbaFormat::default()
            },
            ..IdentifyNamespace::default()
        })
    }

    fn set_attributes(&self, set: u16) -> NvmSetAttributes {
        let total = self.set_capacity(set);
        let read_ns = self.device.random_read_typical().as_ns();
        NvmSetAttributes {
            nvmsetid: set,
            endgid: set,
            rr4kt: read_ns.div_ceil(100) as u32,
            ows: self.device.optimal_write_bytes() as u32,
            tnvmsetcap: u128::from(total),
            unvmsetcap: u128::from(total.saturating_sub(self.set_allocated(set))),
        }
    }

    /// The identifier of the NVM set a namespace is in; 0 for none.
    fn set_of(&self, nsid: NamespaceId) -> u16 {
        self.device.set_of(nsid).map_or(0, |set| set as u16 + 1)
    }

    /// Bytes the host can fill in the set with this identifier.
    pub(super) fn set_capacity(&self, set: u16) -> u64 {
        self.device.set_capacity_bytes(u32::from(set) - 1)
    }

    /// What the namespaces of a set may fill: as they are thin, it can be more than the capacity.
    pub(super) fn set_allocated(&self, set: u16) -> u64 {
        let namespaces = self.device.namespaces().iter();
        let of_set = namespaces.filter(|namespace| self.set_of(namespace.id) == set);
        of_set.fold(0, |sum: u64, namespace| {
            sum.saturating_add(namespace.size_lbas * namespace.lba_bytes)
        })
    }
}
