//! The rules that a workload can break, and the same workload with each of them kept.

use super::Context;
use super::flow::{Flow, Io};
use crate::report::bytes;
use meldsim::profile::Kind;

/// Requests outstanding beyond what fills the device, before rule 1 counts as broken.
const SLACK: u32 = 2;

/// A rule.
pub(super) struct Rule {
    pub(super) number: u32,
    pub(super) name: &'static str,
    /// The devices it is a rule of.
    pub(super) kinds: &'static [Kind],
    /// Whether the request at an index breaks it.
    pub(super) breaks: fn(&Context<'_>, usize) -> bool,
    /// The workload with the rule kept.
    pub(super) keep: fn(&Context<'_>) -> Flow,
    pub(super) advice: fn(&Context<'_>) -> String,
}

const BOTH: &[Kind] = &[Kind::Nand, Kind::Xpoint];

/// Rules 2, 4 and 7 of an Optane SSD say what need not be heeded; of flash it must.
pub(super) const RULES: [Rule; 6] = [
    Rule {
        number: 1,
        name: "access with low request scale",
        kinds: &[Kind::Xpoint],
        breaks: |context, index| context.seen.outstanding[index] >= context.enough * SLACK,
        keep: |context| Flow {
            depth: Some(context.enough),
            ..context.flow.clone()
        },
        advice: |context| {
            format!(
                "keep {} requests outstanding: more only wait",
                context.enough
            )
        },
    },
    Rule {
        number: 2,
        name: "random is not OK on flash",
        kinds: &[Kind::Nand],
        breaks: |context, index| is_out_of_order(context, index, false),
        keep: |context| in_order(context, false),
        advice: |_| "read in order what lies in order".to_owned(),
    },
    Rule {
        number: 3,
        name: "avoid crowded accesses",
        kinds: BOTH,
        breaks: |context, index| context.seen.is_crowded[index],
        keep: |context| {
            // Each goes where none has been, with the same alignment.
            let mut next = 0;
            changed(context, |io| {
                let within = io.offset % context.chunk_bytes;
                io.offset = next + within;
                next = io.end().next_multiple_of(context.chunk_bytes);
            })
        },
        advice: |context| {
            let chunk = bytes(context.chunk_bytes);
            format!(
                "do not access one {chunk} in parallel: keep it in memory, or spread what is asked for together"
            )
        },
    },
    Rule {
        number: 5,
        name: "avoid tiny accesses",
        kinds: BOTH,
        breaks: |context, index| context.flow.requests[index].bytes < context.chunk_bytes,
        keep: |context| Flow {
            requests: gathered(context),
            ..context.flow.clone()
        },
        advice: |context| format!("gather requests to whole {}", bytes(context.chunk_bytes)),
    },
    Rule {
        number: 6,
        name: "align to chunks",
        kinds: BOTH,
        breaks: |context, index| {
            let io = &context.flow.requests[index];
            let touched = io.chunks(context.chunk_bytes);
            touched.end - touched.start > io.bytes.div_ceil(context.chunk_bytes)
        },
        keep: |context| changed(context, |io| io.offset -= io.offset % context.chunk_bytes),
        advice: |context| {
            format!(
                "begin requests at multiples of {}",
                bytes(context.chunk_bytes)
            )
        },
    },
    Rule {
        number: 7,
        name: "do not forget garbage collection of flash",
        kinds: &[Kind::Nand],
        breaks: |context, index| is_out_of_order(context, index, true),
        keep: |context| in_order(context, true),
        advice: |_| {
            "write in order, as a log; what is overwritten at random is collected later".to_owned()
        },
    },
];

/// Whether a request is of that direction and does not begin where the one before it ends.
fn is_out_of_order(context: &Context<'_>, index: usize, is_write: bool) -> bool {
    let io = &context.flow.requests[index];
    let before = index.checked_sub(1);
    let before = before.map(|before| &context.flow.requests[before]);
    io.is_write == is_write && before.is_some_and(|io_before| io_before.end() != io.offset)
}

/// The requests of that direction one after the other.
fn in_order(context: &Context<'_>, is_write: bool) -> Flow {
    let mut next = 0;
    changed(context, |io| {
        if io.is_write == is_write {
            io.offset = next;
            next = io.end();
        }
    })
}

fn changed(context: &Context<'_>, change: impl FnMut(&mut Io)) -> Flow {
    let mut flow = context.flow.clone();
    flow.requests.iter_mut().for_each(change);
    flow
}

/// Tiny requests of one direction, as many of them together as fill a chunk: the chunk of the first.
fn gathered(context: &Context<'_>) -> Vec<Io> {
    let chunk_bytes = context.chunk_bytes;
    let mut requests = Vec::new();
    let mut gathered: [Option<Io>; 2] = [None, None];
    for io in &context.flow.requests {
        if io.bytes >= chunk_bytes {
            requests.push(*io);
            continue;
        }
        let so_far = gathered[usize::from(io.is_write)].get_or_insert(Io { bytes: 0, ..*io });
        so_far.bytes += io.bytes;
        if so_far.bytes >= chunk_bytes {
            requests.push(whole(*so_far, chunk_bytes));
            gathered[usize::from(io.is_write)] = None;
        }
    }
    let left = gathered.into_iter().flatten();
    requests.extend(left.map(|io| whole(io, chunk_bytes)));
    requests.sort_by_key(|io| io.arrival);
    requests
}

fn whole(io: Io, chunk_bytes: u64) -> Io {
    Io {
        offset: io.offset - io.offset % chunk_bytes,
        bytes: chunk_bytes,
        ..io
    }
}
