//! What Identify returns: controller, namespace, lists of namespaces.

use super::layout::{Field, layout};

/// Controller or Namespace Structure (CNS), CDW10 bits 7:0 of Identify.
pub mod cns {
    /// Identify Namespace data structure for the NSID.
    pub const NAMESPACE: u8 = 0x00;
    /// Identify Controller data structure.
    pub const CONTROLLER: u8 = 0x01;
    /// Active Namespace ID list: those above the NSID.
    pub const ACTIVE_NAMESPACES: u8 = 0x02;
    /// NVM Set List: from the identifier in CDW11 bits 15:0.
    pub const NVM_SETS: u8 = 0x04;
    /// Endurance Group List: from the identifier in CDW11 bits 15:0.
    pub const ENDURANCE_GROUPS: u8 = 0x19;
}

/// Bytes of every Identify data structure.
pub const IDENTIFY_BYTES: usize = 4096;

layout! {
    /// Identify Controller data structure (Base specification, CNS 01h): what this controller
    /// reports. Everything else is zero: not reported, not supported.
    pub struct IdentifyController, 4096 bytes {
        /// PCI Vendor ID (VID), bytes 1:0.
        vid: u16 = 0,
        /// PCI Subsystem Vendor ID (SSVID), bytes 3:2.
        ssvid: u16 = 2,
        /// Serial Number (SN), bytes 23:4: ASCII, padded with spaces.
        sn: [u8; 20] = 4,
        /// Model Number (MN), bytes 63:24: ASCII, padded with spaces.
        mn: [u8; 40] = 24,
        /// Firmware Revision (FR), bytes 71:64: ASCII, padded with spaces.
        fr: [u8; 8] = 64,
        /// Recommended Arbitration Burst (RAB), byte 72: a power of two.
        rab: u8 = 72,
        /// Maximum Data Transfer Size (MDTS), byte 77: a power of two of minimum pages, 0 no limit.
        mdts: u8 = 77,
        /// Controller ID (CNTLID), bytes 79:78.
        cntlid: u16 = 78,
        /// Version (VER), bytes 83:80.
        ver: u32 = 80,
        /// Controller Attributes (CTRATT), bytes 99:96.
        ctratt: u32 = 96,
        /// Controller Type (CNTRLTYPE), byte 111: 1 is an I/O controller.
        cntrltype: u8 = 111,
        /// Optional Admin Command Support (OACS), bytes 257:256.
        oacs: u16 = 256,
        /// Log Page Attributes (LPA), byte 261.
        lpa: u8 = 261,
        /// Total NVM Capacity (TNVMCAP), bytes 295:280, in bytes.
        tnvmcap: u128 = 280,
        /// Unallocated NVM Capacity (UNVMCAP), bytes 311:296, in bytes.
        unvmcap: u128 = 296,
        /// NVM Set Identifier Maximum (NSETIDMAX), bytes 339:338.
        nsetidmax: u16 = 338,
        /// Endurance Group Identifier Maximum (ENDGIDMAX), bytes 341:340.
        endgidmax: u16 = 340,
        /// Submission Queue Entry Size (SQES), byte 512: powers of two, required 3:0, maximum 7:4.
        sqes: u8 = 512,
        /// Completion Queue Entry Size (CQES), byte 513: as SQES.
        cqes: u8 = 513,
        /// Maximum Outstanding Commands (MAXCMD), bytes 515:514.
        maxcmd: u16 = 514,
        /// Number of Namespaces (NN), bytes 519:516.
        nn: u32 = 516,
        /// Optional NVM Command Support (ONCS), bytes 521:520.
        oncs: u16 = 520,
        /// Volatile Write Cache (VWC), byte 525.
        vwc: u8 = 525,
        /// NVM Subsystem NVMe Qualified Name (SUBNQN), bytes 1023:768: UTF-8, padded with zeros.
        subnqn: [u8; 256] = 768,
    }
}

impl IdentifyController {
    /// CTRATT bit 2: NVM Sets.
    pub const CTRATT_NVM_SETS: u32 = 1 << 2;
    /// CTRATT bit 4: Endurance Groups.
    pub const CTRATT_ENDURANCE_GROUPS: u32 = 1 << 4;
    /// CTRATT bit 5: Predictable Latency Mode.
    pub const CTRATT_PREDICTABLE_LATENCY: u32 = 1 << 5;
    /// OACS bit 5: Directive Send and Directive Receive.
    pub const OACS_DIRECTIVES: u16 = 1 << 5;
    /// ONCS bit 2: Dataset Management.
    pub const ONCS_DATASET_MANAGEMENT: u16 = 1 << 2;

    /// `text` in a field of `N` bytes, padded with spaces and cut when it is too long.
    pub fn ascii<const N: usize>(text: &str) -> [u8; N] {
        let mut field = [b' '; N];
        for (to, from) in field.iter_mut().zip(text.bytes()) {
            *to = if from.is_ascii_graphic() { from } else { b' ' };
        }
        field
    }
}

layout! {
    /// LBA Format (NVM Command Set specification, LBA Format Data Structure).
    pub struct LbaFormat, 4 bytes {
        /// Metadata Size (MS), bits 15:0.
        metadata_bytes: u16 = 0,
        /// LBA Data Size (LBADS), bits 23:16: a power of two.
        lbads: u8 = 2,
        /// Relative Performance (RP), bits 25:24: 0 best.
        relative_performance: u8 = 3,
    }
}

impl Field for LbaFormat {
    const BYTES: usize = LbaFormat::BYTES;
    fn put(&self, to: &mut [u8]) {
        self.encode().put(to);
    }
    fn get(from: &[u8]) -> LbaFormat {
        LbaFormat::parse(&Field::get(from))
    }
}

layout! {
    /// Identify Namespace data structure (NVM Command Set specification, CNS 00h).
    pub struct IdentifyNamespace, 4096 bytes {
        /// Namespace Size (NSZE), bytes 7:0, in logical blocks.
        nsze: u64 = 0,
        /// Namespace Capacity (NCAP), bytes 15:8, in logical blocks.
        ncap: u64 = 8,
        /// Namespace Utilization (NUSE), bytes 23:16, in logical blocks.
        nuse: u64 = 16,
        /// Namespace Features (NSFEAT), byte 24: bit 0 thin provisioning, bit 4 the optimal
        /// performance fields (NPWG to NOWS) are defined.
        nsfeat: u8 = 24,
        /// Number of LBA Formats (NLBAF), byte 25: zero-based.
        nlbaf: u8 = 25,
        /// Formatted LBA Size (FLBAS), byte 26: the index of the format in use.
        flbas: u8 = 26,
        /// Deallocate Logical Block Features (DLFEAT), byte 33: bits 2:0, 1 reads as zeros.
        dlfeat: u8 = 33,
        /// NVM Capacity (NVMCAP), bytes 63:48, in bytes.
        nvmcap: u128 = 48,
        /// Namespace Preferred Write Granularity (NPWG), bytes 65:64: logical blocks, zero-based.
        npwg: u16 = 64,
        /// Namespace Preferred Write Alignment (NPWA), bytes 67:66: logical blocks, zero-based.
        npwa: u16 = 66,
        /// Namespace Preferred Deallocate Granularity (NPDG), bytes 69:68: as NPWG.
        npdg: u16 = 68,
        /// Namespace Preferred Deallocate Alignment (NPDA), bytes 71:70: as NPWA.
        npda: u16 = 70,
        /// Namespace Optimal Write Size (NOWS), bytes 73:72: logical blocks, zero-based.
        nows: u16 = 72,
        /// NVM Set Identifier (NVMSETID), bytes 101:100.
        nvmsetid: u16 = 100,
        /// Endurance Group Identifier (ENDGID), bytes 103:102.
        endgid: u16 = 102,
        /// LBA Format 0 (LBAF0), bytes 131:128: the only one.
        lbaf0: LbaFormat = 128,
    }
}

impl IdentifyNamespace {
    /// NSFEAT bit 0: NCAP may be less than NSZE.
    pub const NSFEAT_THIN: u8 = 1;
    /// NSFEAT bit 4: NPWG, NPWA, NPDG, NPDA and NOWS are defined.
    pub const NSFEAT_OPTIMAL_PERFORMANCE: u8 = 1 << 4;
}

/// A list of identifiers: the active namespaces (u32 each, up to 1024, zero ends it).
pub fn namespace_list(ids: impl Iterator<Item = u32>) -> [u8; IDENTIFY_BYTES] {
    let mut bytes = [0; IDENTIFY_BYTES];
    for (id, place) in ids.zip(bytes.chunks_exact_mut(size_of::<u32>())) {
        id.put(place);
    }
    bytes
}
