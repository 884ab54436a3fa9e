//! A device of MQSim as a profile.

use super::xml::Keys;
use crate::error::BadInput;

/// What flows say that counts for the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flows {
    pub(super) write_cache: bool,
    /// Requests outstanding of the deepest.
    pub(super) depth: u64,
    /// Most of them at a time.
    pub(super) count: u64,
}

/// A profile's text, and what of the keys could not be kept.
pub(super) fn profile(
    keys: &Keys<'_>,
    name: &str,
    flows: Flows,
) -> Result<(String, Vec<String>), BadInput> {
    const NS_MAX: u64 = 1_000_000_000;
    let mut differs = Vec::new();
    let count = |key: &str, default| keys.number::<u64>(key, default, 1, 1 << 32);
    let ns = |key: &str, default| keys.number::<u64>(key, default, 1, NS_MAX);
    let technologies: [(&str, &[&str]); 3] = [
        ("SLC", &["LSB"]),
        ("MLC", &["LSB", "MSB"]),
        ("TLC", &["LSB", "CSB", "MSB"]),
    ];
    let pages = keys.choice("Flash_Technology", "MLC", &technologies)?;
    let times = |what: &str, default| -> Result<String, BadInput> {
        let time = |page: &&str| {
            Ok(format!(
                "\"{}ns\"",
                ns(&format!("Page_{what}_Latency_{page}"), default)?
            ))
        };
        Ok(pages
            .iter()
            .map(time)
            .collect::<Result<Vec<String>, BadInput>>()?
            .join(", "))
    };
    let program = ns("Page_Program_Latency_MSB", "750000")?;
    let (chips, dies) = (
        count("Chip_No_Per_Channel", "4")?,
        count("Die_No_Per_Chip", "2")?,
    );
    let planes = count("Plane_No_Per_Die", "2")?;
    let (page, spare) = (
        count("Page_Capacity", "8192")?,
        keys.number::<u64>("Page_Metadat_Capacity", "1872", 0, 1 << 20)?,
    );
    let block_pages = count("Page_No_Per_Block", "256")?;
    let bits = pages.len() as u64;
    if block_pages % bits != 0 {
        differs.push(format!(
            "Page_No_Per_Block = {block_pages}: {} pages, whole wordlines",
            block_pages / bits * bits
        ));
    }
    let ratio = keys.number::<f64>("Overprovisioning_Ratio", "0.07", 0.0, 0.9)?;
    let spare_percent = ((ratio * 100.0).round() as u64).max(1);
    if (spare_percent as f64 - ratio * 100.0).abs() > 1e-6 {
        differs.push(format!(
            "Overprovisioning_Ratio = {ratio}: {spare_percent} %"
        ));
    }
    let link = keys.number::<f64>("PCIe_Lane_Bandwidth", "0.4", 0.001, 1000.0)?
        * keys.number::<f64>("PCIe_Lane_Count", "4", 1.0, 64.0)?;
    let blocks = count("Block_No_Per_Plane", "2048")?;
    let choices = u64::from(blocks.ilog2().max(1));
    let victims = [
        ("GREEDY", "greedy"),
        ("RGA", "d-choices"),
        ("RANDOM", "random"),
        ("RANDOM_P", "random"),
        ("RANDOM_PP", "random"),
        ("FIFO", "fifo"),
    ];
    let victim = keys.choice("GC_Block_Selection_Policy", "RGA", &victims)?;
    let is_static = keys.flag("Static_Wearleveling_Enabled", "true")?;
    let levelling = match (
        is_static,
        keys.flag("Dynamic_Wearleveling_Enabled", "true")?,
    ) {
        (true, _) => "static",
        (false, true) => "dynamic",
        (false, false) => "none",
    };
    let suspends = [
        ("NONE", (false, false)),
        ("PROGRAM", (true, false)),
        ("ERASE", (false, true)),
        ("PROGRAM_ERASE", (true, true)),
    ];
    let (mut suspend_program, mut suspend_erase) =
        keys.choice("CMD_Suspension_Support", "ERASE", &suspends)?;
    if dies > 1 && (suspend_program || suspend_erase) {
        differs.push(format!(
            "CMD_Suspension_Support = {}: off, as a chip works for one of its dies at a time",
            keys.text("CMD_Suspension_Support", "ERASE")
        ));
        (suspend_program, suspend_erase) = (false, false);
    }
    let suspend_time = match suspend_erase {
        true => ns("Suspend_Erase_Time", "700000")?,
        false => ns("Suspend_Program_Time", "100000")?,
    };
    let fetch = count("Queue_Fetch_Size", "512")?;
    let in_flight = if fetch < flows.depth {
        (fetch * flows.count).min(65_536)
    } else {
        0
    };
    let dies_per_channel = chips * dies;
    let all_pages = [
        count("Flash_Channel_Count", "8")?,
        dies_per_channel,
        planes,
        blocks,
        block_pages,
    ];
    let all_pages = all_pages
        .iter()
        .fold(1u64, |product, factor| product.saturating_mul(*factor));
    let entry = if all_pages >> 31 == 0 { 4 } else { 5 };
    let mapping = all_pages.saturating_mul(entry).max(1 << 32);
    let map = match keys.flag("Ideal_Mapping_Table", "false")? {
        true => String::new(),
        false => cached_map(count("CMT_Capacity", "2097152")?, all_pages, page / 512),
    };
    let text = format!(
        r#"# From MQSim's configuration. Flash, bus, cache and policies are its own; what it does not have is as everywhere.
name = "{name}"
description = "imported from MQSim"

[geometry]
channels = {channels}
dies_per_channel = {dies_per_channel}
dies_per_package = {dies}
planes_per_die = {planes}
blocks_per_plane = {blocks}
wordlines_per_block = {wordlines}
page_size = "{page}B"

[bus]
rate = "{rate}MT/s"
width_bits = {width}
bytes_per_4kib = {bytes_per_4kib}
# A channel that is free moves waiting data before it starts another command.
arbitration = "data-first"

[timing]
read = [{read}]
program = "{program}ns"
{program_pages}erase = "{erase}ns"

[commands]
multi_plane = {multi_plane}
# A chip gets its next command when the one before is done, whichever die that was for.
die_interleave = "{interleave}"
suspend_program = {suspend_program}
suspend_erase = {suspend_erase}
suspend_time = "{suspend_time}ns"

[controller]
lba_size = "512B"
write_buffer = "{write_buffer}B"
write_cache = {write_cache}
latency = "1ns"

[ftl]
over_provisioning_percent = {spare_percent}
allocation = "static"
page_allocation = "{allocation}"
program_order = "{order}"
mapping_memory = "{mapping}B"
{map}
[gc]
victim = "{victim}"
wear_levelling = "{levelling}"
wear_threshold = {wear_threshold}

[policy.d-choices]
d = {choices}

[host]
link_rate = "{link}MB/s"
commands_in_flight = {in_flight}
"#,
        channels = count("Flash_Channel_Count", "8")?,
        wordlines = block_pages / bits,
        rate = count("Channel_Transfer_Rate", "300")?,
        width = 8 * count("Flash_Channel_Width", "1")?,
        bytes_per_4kib = (4096 * (page + spare)).div_ceil(page),
        read = times("Read", "75000")?,
        program_pages = match bits {
            1 => String::new(),
            _ => format!("program_pages = [{}]\n", times("Program", "750000")?),
        },
        erase = ns("Block_Erase_Latency", "3800000")?,
        multi_plane = planes > 1,
        interleave = if dies > 1 { "off" } else { "independent" },
        write_buffer = count("Data_Cache_Capacity", "536870912")?,
        write_cache = flows.write_cache,
        allocation = keys.text("Plane_Allocation_Scheme", "CWDP"),
        order = if bits == 1 { "one-shot" } else { "shadow" },
        wear_threshold = count("Static_Wearleveling_Threshold", "100")?,
        link = (link * 1000.0).round().max(1.0),
    );
    Ok((text, differs))
}

/// A cached mapping, entry by entry as in DFTL. MQSim's entries have the physical page and a bit for each of its sectors, in
/// the cache the logical page, too; a line of the cache here has 4 bytes for that.
fn cached_map(capacity: u64, pages: u64, sectors: u64) -> String {
    const TAG_BYTES: u64 = 4;
    let bits = libm::log2(pages as f64);
    let bytes = |addresses: f64| libm::ceil((addresses * bits + sectors as f64) / 8.0) as u64;
    let (entries, entry) = (capacity / bytes(2.0), bytes(1.0).clamp(4, 64));
    let cache = (entries * (entry + TAG_BYTES)).max(1 << 10);
    format!(
        r#"map = "cached"
map_cache = "{cache}B"
map_line = 1
map_entry = "{entry}B"
map_update = "batched"
"#
    )
}
