//! The flows of a scenario of MQSim as jobs, or as traces to replay.

use std::fmt::Write;

use super::xml::Keys;
use crate::error::BadInput;

/// A flow.
pub(super) enum Flow {
    /// A section of a job file.
    Job(String),
    /// The flags that replay its trace.
    Trace(String),
}

const SECTOR_BYTES: u64 = 512;
/// Deviations from the mean of a normal distribution, each that of the middle of a tenth, in thousandths.
const TENTHS: [i64; 10] = [-1645, -1036, -674, -385, -126, 126, 385, 674, 1036, 1645];

impl Flow {
    /// One of so many flows of a scenario, the `number`th; queues hold so many requests.
    pub(super) fn of(
        keys: &Keys<'_>,
        is_trace: bool,
        (number, flows): (usize, u64),
        queue_depth: u64,
    ) -> Result<Flow, BadInput> {
        if is_trace {
            let units = [
                ("PICOSECOND", "ps"),
                ("NANOSECOND", "ns"),
                ("MICROSECOND", "us"),
            ];
            let unit = keys.choice("Time_Unit", "NANOSECOND", &units)?;
            let passes: u32 = keys.number("Relay_Count", "1", 1, 1_000_000)?;
            let path = keys.text("File_Path", "");
            return Ok(Flow::Trace(format!(
                "--trace '{}' --trace-format mqsim --time-unit {unit} --repeat {passes}",
                path.replace('\'', r"'\''")
            )));
        }
        let mut text = format!("[flow-{number}]\n");
        // Writing to a string does not fail.
        let mut line = |key: &str, value: &str| {
            let _ = writeln!(text, "{key}={value}");
        };
        let count =
            |key, default, least| keys.number::<u64>(key, default, least, u64::MAX / SECTOR_BYTES);
        let percent = |key, default| keys.number::<u64>(key, default, 0, 100);
        let reads = percent("Read_Percentage", "100")?;
        let addresses = [
            ("STREAMING", false),
            ("RANDOM_UNIFORM", true),
            ("RANDOM_HOTCOLD", true),
        ];
        let is_random = keys.choice("Address_Distribution", "RANDOM_UNIFORM", &addresses)?;
        let direction = match reads {
            100 => "read",
            0 => "write",
            _ => "rw",
        };
        line(
            "rw",
            &if is_random {
                format!("rand{direction}")
            } else {
                direction.to_owned()
            },
        );
        if direction == "rw" {
            line("rwmixread", &reads.to_string());
        }
        let mean = count("Average_Request_Size", "8", 1)?;
        let mut largest = mean;
        if keys.choice(
            "Request_Size_Distribution",
            "FIXED",
            &[("FIXED", false), ("NORMAL", true)],
        )? {
            let deviation = count("Variance_Request_Size", "0", 0)?.min(1 << 20) as i64;
            let sizes = TENTHS.map(|tenth| {
                let sectors = mean.min(1 << 20) as i64 * 1000 + tenth * deviation;
                u64::try_from(sectors / 1000 + i64::from(sectors % 1000 > 0))
                    .unwrap_or(0)
                    .max(1)
            });
            largest = sizes[9];
            line(
                "bssplit",
                &sizes
                    .map(|sectors| format!("{}/10", sectors * SECTOR_BYTES))
                    .join(":"),
            );
        } else {
            line("bs", &(mean * SECTOR_BYTES).to_string());
        }
        if is_random {
            let aligned = keys.flag("Generated_Aligned_Addresses", "true")?;
            let unit = if aligned {
                count("Address_Alignment_Unit", "16", 1)?
            } else {
                1
            };
            line("blockalign", &(unit * SECTOR_BYTES).to_string());
            line("norandommap", "1");
            let hot = percent("Percentage_of_Hot_Region", "0")?;
            if keys.text("Address_Distribution", "") == "RANDOM_HOTCOLD" && (1..100).contains(&hot)
            {
                let cold = 100 - hot;
                line(
                    "random_distribution",
                    &format!("zoned:{cold}/{hot}:{hot}/{cold}"),
                );
            }
        }
        match keys.choice(
            "Synthetic_Generator_Type",
            "QUEUE_DEPTH",
            &[("QUEUE_DEPTH", false), ("BANDWIDTH", true)],
        )? {
            false => line("iodepth", &depth(keys)?.to_string()),
            true => {
                let bytes = count("Bandwidth", "262144", 1)?;
                line(
                    "rate_iops",
                    &(bytes / SECTOR_BYTES / mean).max(1).to_string(),
                );
                line("rate_process", "poisson");
                line("iodepth", &queue_depth.to_string());
            }
        }
        let share = percent("Working_Set_Percentage", "85")?.max(1) / flows;
        line("size", &format!("{}%", share.max(1)));
        let priorities = [
            ("URGENT", "urgent"),
            ("HIGH", "high"),
            ("MEDIUM", "medium"),
            ("LOW", "low"),
        ];
        line(
            "queue_priority",
            keys.choice("Priority_Class", "HIGH", &priorities)?,
        );
        line("randseed", keys.text("Seed", "1"));
        match count("Stop_Time", "1000000000", 0)? {
            0 => {
                let requests = count("Total_Requests_To_Generate", "0", 0)?;
                line("number_ios", &requests.to_string());
                line(
                    "io_size",
                    &requests.saturating_mul(largest * SECTOR_BYTES).to_string(),
                );
            }
            ns => {
                line("runtime", &format!("{ns}ns"));
                line("time_based", "1");
            }
        }
        text.push('\n');
        Ok(Flow::Job(text))
    }
}

/// Requests that a flow keeps outstanding.
pub(super) fn depth(keys: &Keys<'_>) -> Result<u64, BadInput> {
    keys.number("Average_No_of_Reqs_in_Queue", "2", 1, 65_536)
}
