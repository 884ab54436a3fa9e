//! What Linux's block layer tells of requests: the lines that blkparse prints, the records that blktrace writes
//! (`struct blk_io_trace` of linux/blktrace_api.h), and the tracepoints `block:*` as `trace`, `trace-cmd` and `perf` print them.

use std::io::{self, BufRead, Write};

use super::{Context, SECTOR_BYTES, Written, checked, in_bytes};
use crate::error::{Fault, TraceError};
use crate::trace::record::{Op, Record};
use crate::trace::text::{Fields, Lines, MEND, Separator, is_digits};
use meldsim::profile::excerpt;

/// The step of a request at which it counts as one: the first of these that a trace has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::trace) enum Action {
    /// It was issued to the driver.
    #[default]
    Issue,
    /// It was queued.
    Queue,
    /// It was completed.
    Complete,
    /// It was given to the scheduler.
    Insert,
}

/// As blkparse prints, blktrace writes and a tracepoint is called.
const ACTIONS: [(Action, &str, u32, &str); 4] = [
    (Action::Issue, "D", 7, "block_rq_issue"),
    (Action::Queue, "Q", 1, "block_bio_queue"),
    (Action::Complete, "C", 8, "block_rq_complete"),
    (Action::Insert, "I", 3, "block_rq_insert"),
];

impl Action {
    fn printed(self) -> &'static str {
        ACTIONS[self as usize].1
    }

    fn number(self) -> u32 {
        ACTIONS[self as usize].2
    }

    fn tracepoint(self) -> &'static str {
        ACTIONS[self as usize].3
    }

    /// That of lines of text.
    pub(in crate::trace) fn of_lines<'a>(lines: impl Iterator<Item = &'a str> + Clone) -> Action {
        let has = |printed: &str, tracepoint: &str| {
            lines.clone().any(|line| {
                action(line) == Some(printed)
                    || event(line).is_some_and(|(_, name, _)| name == tracepoint)
            })
        };
        let action = ACTIONS
            .iter()
            .find(|(_, printed, _, tracepoint)| has(printed, tracepoint));
        action.map_or_else(Action::default, |(action, ..)| *action)
    }

    /// That of the records with which a file begins.
    pub(in crate::trace) fn of_records(head: &[u8], big_endian: bool) -> Action {
        let mut seen = Vec::new();
        let mut rest = head;
        while let Some((record, more)) = rest.split_first_chunk::<RECORD_BYTES>() {
            let event = Event::of(record, big_endian);
            seen.push(event.step());
            rest = more.get(event.payload_bytes as usize..).unwrap_or_default();
        }
        let action = ACTIONS
            .iter()
            .find(|(_, _, number, _)| seen.contains(&Some(*number)));
        action.map_or_else(Action::default, |(action, ..)| *action)
    }
}

/// The action of a line of blkparse: `major,minor cpu sequence seconds pid action rwbs sector + sectors [process]`.
fn action(line: &str) -> Option<&str> {
    fits(line).then(|| line.split_ascii_whitespace().nth(5))?
}

/// Whether a line begins with a device, a processor, a sequence number and a time.
pub(super) fn fits(line: &str) -> bool {
    let mut fields = line.split_ascii_whitespace();
    fields.next().is_some_and(|device| is_pair(device, ','))
        && fields.next().is_some_and(is_digits)
        && fields.next().is_some_and(is_digits)
        && fields.next().is_some_and(|time| is_pair(time, '.'))
}

/// Whether these are two numbers.
fn is_pair(text: &str, separator: char) -> bool {
    let pair = text.split_once(separator);
    pair.is_some_and(|(a, b)| is_digits(a) && is_digits(b))
}

/// The time of a tracepoint, its name, and what it tells: `process-pid [cpu] flags seconds: name: device rwbs ...`.
pub(super) fn event(line: &str) -> Option<(&str, &str, &str)> {
    let (before, after) = line.split_at(line.find("block_")?);
    let (name, told) = after.split_once(": ")?;
    // perf puts the kind in front.
    let before = before
        .trim_end_matches("block:")
        .trim_end()
        .strip_suffix(':')?;
    let time = before.rsplit(' ').next()?;
    time.split('.').all(is_digits).then_some((time, name, told))
}

/// What letters such as `WFS` ask for.
pub(super) fn op(rwbs: &str, has_range: bool) -> Option<Op> {
    let has = |letter: char| rwbs.contains(letter);
    match () {
        () if has('D') || has('E') => Some(Op::Trim),
        () if !has_range => has('F').then_some(Op::Flush),
        () if has('W') => Some(Op::Write),
        () if has('R') => Some(Op::Read),
        () => None,
    }
}

pub(super) fn parse(line: &str, context: &mut Context) -> Result<Option<Record>, Fault> {
    // The summary that blkparse prints at its end.
    const SUMMARY: [&str; 6] = [
        "CPU",
        "Total",
        "Throughput",
        "Events",
        "Skips",
        "Input file",
    ];
    if SUMMARY.iter().any(|word| line.starts_with(word)) || (!fits(line) && line.contains(':')) {
        return Ok(None);
    }
    let first = line.split_ascii_whitespace().next().unwrap_or_default();
    if !is_pair(first, ',') {
        // The name of a process above what it did.
        return context.other();
    }
    let mut fields = Fields::new(line, Separator::Blanks);
    let device = fields.text("device")?;
    fields.number("CPU")?;
    fields.number("sequence")?;
    let time = fields.text("time")?;
    fields.text("PID")?;
    let is_step = fields.text("action")? == context.action.printed();
    request(time, device, is_step, fields, context)
}

/// The request of a tracepoint's line, if it has one.
pub(super) fn parse_event(line: &str, context: &mut Context) -> Result<Option<Record>, Fault> {
    let Some((time, name, told)) = event(line) else {
        return Ok(None);
    };
    let mut fields = Fields::new(told, Separator::Blanks);
    let device = fields.text("device")?;
    let is_step = name == context.action.tracepoint();
    request(time, device, is_step, fields, context)
}

/// What follows a device in both: `RWBS [bytes] [(command)] [sector + sectors] [(time)] [process]`.
fn request(
    time: &str,
    device: &str,
    is_step: bool,
    mut fields: Fields<'_>,
    context: &mut Context,
) -> Result<Option<Record>, Fault> {
    let time_ps = context.clock.read("time", time)?;
    if !is_step {
        return context.other();
    }
    let rwbs = fields.text("RWBS")?;
    let line = fields.clone();
    // Tracepoints have the command here, which is empty but for one that is passed through: then there is no range of sectors.
    let before_process = line.rest().split('[').next().unwrap_or_default();
    if let Some((_, after)) = before_process
        .split_once(") ")
        .filter(|(_, after)| after.contains(" + "))
    {
        fields = Fields::new(after, Separator::Blanks);
    }
    let (next, after) = fields.peek().unwrap_or_default();
    let has_none = |text: &str| text.is_empty() || text.starts_with(['[', '(']);
    // A flush has no range, and a command that is passed through has its bytes there.
    let is_flush = rwbs.contains('F') && next.is_empty();
    let has_range = !(is_flush || rwbs.contains('N') || next.starts_with(['[', '(']))
        && (!has_none(after) || after.is_empty());
    let (mut offset, mut length) = (0, 0);
    if has_range {
        let sector = fields.number("sector")?;
        if fields.text("sectors")? != "+" {
            let message = format!("do not stand behind a plus: \"{}\"", excerpt(line.rest()));
            return Err(Fault::new("sectors", message, MEND));
        }
        length = in_bytes("sectors", fields.number("sectors")?, SECTOR_BYTES)?;
        // Of nothing, it may be the highest number.
        offset = if length > 0 {
            in_bytes("sector", sector, SECTOR_BYTES)?
        } else {
            0
        };
    }
    let Some(op) = op(rwbs, length > 0) else {
        return context.other();
    };
    let Some(volume) = context.volumes.index(device, "device")? else {
        return Ok(None);
    };
    checked(
        context.record(volume, time_ps, op, (offset, length)),
        "sectors",
    )
}

/// As blkparse prints a request that was issued.
pub(super) fn print(line: &mut Vec<u8>, record: &Record, written: &Written<'_>) -> io::Result<()> {
    let (major, minor) = written.device(record);
    let (seconds, ns) = seconds(record);
    let number = written.number;
    write!(
        line,
        "{major:3},{minor:<3} 0 {number:8} {seconds:5}.{ns:09} 0  D "
    )?;
    let (sector, sectors) = (record.offset / SECTOR_BYTES, record.length / SECTOR_BYTES);
    match record.op {
        Op::Flush => writeln!(line, " FN [trace]"),
        op => writeln!(line, "{:>3} {sector} + {sectors} [trace]", rwbs(op)),
    }
}

/// As a tracepoint prints it.
pub(super) fn print_event(
    line: &mut Vec<u8>,
    record: &Record,
    written: &Written<'_>,
) -> io::Result<()> {
    let (major, minor) = written.device(record);
    let (seconds, ns) = seconds(record);
    let (sector, sectors) = (record.offset / SECTOR_BYTES, record.length / SECTOR_BYTES);
    let (rwbs, bytes) = (rwbs(record.op), record.length);
    writeln!(
        line,
        "trace-0 [000] {seconds:5}.{ns:09}: block_rq_issue: {major},{minor} {rwbs} {bytes} () {sector} + {sectors} [trace]"
    )
}

/// Seconds and nanoseconds of the arrival.
fn seconds(record: &Record) -> (u64, u64) {
    let ns = record.arrival.as_ps() / 1000;
    (ns / 1_000_000_000, ns % 1_000_000_000)
}

fn rwbs(op: Op) -> &'static str {
    match op {
        Op::Read => "R",
        Op::Write => "W",
        Op::Flush => "FN",
        _ => "D",
    }
}

const RECORD_BYTES: usize = 48;
/// In the upper bytes of the first word; the lowest is the version.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;

/// Categories of an event, above its action.
mod category {
    pub(super) const READ: u32 = 1 << 16;
    pub(super) const WRITE: u32 = 1 << 17;
    pub(super) const FLUSH: u32 = 1 << 18;
    pub(super) const ISSUE: u32 = 1 << 22;
    /// Passed through: no request of a file system.
    pub(super) const PASSED_THROUGH: u32 = 1 << 25;
    pub(super) const NOTIFY: u32 = 1 << 26;
    pub(super) const DISCARD: u32 = 1 << 29;
}
/// In an action's number: the request was made for a control group, which the payload names.
const CGROUP: u32 = 1 << 8;

/// How a file of records begins: whether with the highest byte first; `None` if it is no such file.
pub(in crate::trace) fn byte_order(head: &[u8]) -> Option<bool> {
    let first: [u8; 4] = head.get(..4)?.try_into().ok()?;
    let is_magic = |word: u32| word & !0xFF == MAGIC;
    [false, true]
        .into_iter()
        .find(|big_endian| is_magic(word(first, *big_endian)))
}

fn word(bytes: [u8; 4], big_endian: bool) -> u32 {
    match big_endian {
        true => u32::from_be_bytes(bytes),
        false => u32::from_le_bytes(bytes),
    }
}

/// A record, as far as it counts here.
struct Event {
    magic: u32,
    time: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    device: u32,
    payload_bytes: u16,
}

impl Event {
    fn of(record: &[u8; RECORD_BYTES], big_endian: bool) -> Event {
        let word = |at: usize| {
            let bytes = [record[at], record[at + 1], record[at + 2], record[at + 3]];
            word(bytes, big_endian)
        };
        let long = |at: usize| {
            let (first, second) = (u64::from(word(at)), u64::from(word(at + 4)));
            if big_endian {
                first << 32 | second
            } else {
                second << 32 | first
            }
        };
        let payload = [record[46], record[47]];
        Event {
            magic: word(0),
            time: long(8),
            sector: long(16),
            bytes: word(24),
            action: word(28),
            device: word(36),
            payload_bytes: match big_endian {
                true => u16::from_be_bytes(payload),
                false => u16::from_le_bytes(payload),
            },
        }
    }

    /// The number of what happened to a request.
    fn step(&self) -> Option<u32> {
        let is_request = self.action & (category::NOTIFY | category::PASSED_THROUGH) == 0;
        is_request.then_some(self.action & 0xFFFF & !CGROUP)
    }

    fn op(&self) -> Option<Op> {
        match self.action {
            action if action & category::DISCARD != 0 => Some(Op::Trim),
            action if self.bytes == 0 => (action & category::FLUSH != 0).then_some(Op::Flush),
            action if action & category::WRITE != 0 => Some(Op::Write),
            action => (action & category::READ != 0).then_some(Op::Read),
        }
    }
}

pub(super) fn read<R: BufRead>(
    lines: &mut Lines<R>,
    context: &mut Context,
) -> Result<Option<Record>, TraceError> {
    let mut record = [0; RECORD_BYTES];
    while lines.read_bytes(&mut record)? {
        let event = Event::of(&record, context.big_endian);
        if event.magic != MAGIC | VERSION {
            let message = format!(
                "begins with {:#010x}, not with {:#010x}",
                event.magic,
                MAGIC | VERSION
            );
            let whole = lines.before_record(RECORD_BYTES);
            let remedy = format!(
                "give one file of blktrace, or what blkparse -d writes; what is whole before it: head -c {whole} FILE"
            );
            return Err(lines.fault(Fault::new("record", message, remedy)));
        }
        lines.skip(u64::from(event.payload_bytes))?;
        let op = event
            .op()
            .filter(|_| event.step() == Some(context.action.number()));
        let Some(op) = op else {
            context.passed_over.others += 1;
            continue;
        };
        // Its upper 12 bits are the major number.
        let name = || format!("{}.{}", event.device >> 20, event.device & 0xF_FFFF);
        let volume = context
            .volumes
            .index_of_number(event.device, "device", name);
        let Some(volume) = volume.map_err(|fault| lines.fault(fault))? else {
            continue;
        };
        let time_ps = u128::from(event.time) * u128::from(context.clock.unit.ps());
        let record = in_bytes("sector", event.sector, SECTOR_BYTES).and_then(|offset| {
            let range = (offset, u64::from(event.bytes));
            checked(context.record(volume, time_ps, op, range), "bytes")
        });
        return record.map_err(|fault| lines.fault(fault));
    }
    Ok(None)
}

/// As a machine writes a request that was issued, with the lowest byte first.
pub(super) fn write(out: &mut Vec<u8>, record: &Record, written: &Written<'_>) -> io::Result<()> {
    let (major, minor) = written.device(record);
    let categories = category::ISSUE
        | match record.op {
            Op::Read => category::READ,
            Op::Write => category::WRITE,
            Op::Trim => category::WRITE | category::DISCARD,
            _ => category::WRITE | category::FLUSH,
        };
    for word in [MAGIC | VERSION, written.number as u32] {
        out.write_all(&word.to_le_bytes())?;
    }
    for long in [record.arrival.as_ps() / 1000, record.offset / SECTOR_BYTES] {
        out.write_all(&long.to_le_bytes())?;
    }
    let action = categories | Action::Issue.number();
    let device = major << 20 | minor & 0xF_FFFF;
    // Process and processor are none.
    for word in [record.length as u32, action, 0, device, 0, 0] {
        out.write_all(&word.to_le_bytes())?;
    }
    Ok(())
}
