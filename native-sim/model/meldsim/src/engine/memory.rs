//! How much memory the process can still have, where the system tells: Linux's `/proc` and control groups.

use std::fs::read_to_string;

/// Bytes that the process can still take, by what the machine has free and by the limits of the process and of its control
/// group. `None` where nothing is known. No result of a simulation depends on it, only whether one begins.
pub fn available_memory() -> Option<u64> {
    let limits = [of_machine(), of_process(), of_group()];
    limits.into_iter().flatten().min()
}

/// The number after a word at the beginning of a line.
fn number(text: &str, word: &str) -> Option<u64> {
    let mut lines = text.lines();
    let rest = lines.find_map(|line| line.strip_prefix(word))?;
    rest.split_whitespace().next()?.parse().ok()
}

fn of_machine() -> Option<u64> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let free = number(&text, "MemAvailable:")? + number(&text, "SwapFree:").unwrap_or(0);
    Some(free << 10)
}

/// What `ulimit -v` leaves.
fn of_process() -> Option<u64> {
    let limit = number(
        &read_to_string("/proc/self/limits").ok()?,
        "Max address space",
    )?;
    let used = number(&read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(limit.saturating_sub(used << 10))
}

/// Files that were read may go: only what is of no file is counted.
fn of_group() -> Option<u64> {
    let group = read_to_string("/proc/self/cgroup").ok()?;
    let path = group.lines().find_map(|line| line.strip_prefix("0::"))?;
    let own = format!("/sys/fs/cgroup{path}");
    let in_folder = |folder: &str| {
        let limit = read_to_string(format!("{folder}/memory.max")).ok()?;
        let limit: u64 = limit.trim().parse().ok()?;
        let used = number(
            &read_to_string(format!("{folder}/memory.stat")).ok()?,
            "anon ",
        )?;
        Some(limit.saturating_sub(used))
    };
    // A container may see its group as the root.
    in_folder(&own).or_else(|| in_folder("/sys/fs/cgroup"))
}
