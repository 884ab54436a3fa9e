//! Transactions: what dies that share something are given to do together, and when.
//!
//! Without this the queue of each die feeds the die alone. Here operations wait for a *server*: a
//! package, whose dies may or may not work together, or a single die if they are independent. A
//! server executes one transaction at a time. It is composed when the server has become free, and
//! its operations are then put into the queues of its dies. Composed transactions follow Jung and
//! Kandemir (HotStorage'12).
//!
//! ```text
//!   out of order: a queue for each server      in order: a queue for each channel
//!   w0  a d f                                  a b c d e f     head for a busy server: all wait
//!   w1  b c e                                                  by request: also while the channel serves another
//! ```

use super::counts::CommandCounts;
use super::geometry::Geometry;
use super::operation::{Fifo, Kind, Linked, Op, Owner};
use super::timing::Timing;
use crate::engine::{NIL, Slab};
use crate::profile::{DieInterleave, Issue, Profile};

/// How far down its queue a server searches for what fits into its transaction.
const WINDOW: usize = 256;

/// An operation that waits for its turn.
#[derive(Clone, Copy, Debug)]
struct QueuedOp {
    op: Op,
    way: u8,
    owner: Owner,
}

impl Linked for QueuedOp {
    fn next(&mut self) -> &mut u32 {
        &mut self.op.next
    }
}

/// What waits for one server, or, in order, for one channel (all of it among the reads).
#[derive(Clone, Copy, Debug)]
struct Queue {
    reads: Fifo,
    pes: Fifo,
    reads_passed: u32,
}

/// What a die has got of the transaction that is being composed.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// What it got first.
    leader: Op,
    planes: u16,
    pages: u32,
}

/// Transactions that are being composed on one channel.
#[derive(Debug)]
struct Draft {
    /// The dies that have got something, as a set.
    dies: u64,
    parts: [Part; 64],
    /// The planes of each die for which something waits that came before.
    passed: [u16; 64],
}

#[derive(Debug)]
pub(super) struct Transactions {
    in_order: bool,
    /// The owner that each channel serves, if it serves one at a time.
    serving: Option<Vec<Owner>>,
    multi_plane: bool,
    several_dies: bool,
    reads_before_program: u32,
    dies_per_channel: u32,
    dies_per_server: u32,
    wordlines_per_block: u32,
    entries: Slab<QueuedOp>,
    queues: Vec<Queue>,
    /// Dies, by channel, that have not done all of their transaction yet.
    busy: Vec<u64>,
    /// Operations that wait, by channel.
    waiting: Vec<u32>,
    draft: Draft,
}

impl Transactions {
    /// Nothing when each die can take its operations as they come.
    pub(super) fn new(profile: &Profile, geometry: &Geometry) -> Option<Transactions> {
        let commands = &profile.commands;
        let independent = commands.die_interleave == DieInterleave::Independent;
        let in_order = commands.issue != Issue::OutOfOrder;
        if independent && !in_order {
            return None;
        }
        let dies_per_server = match independent {
            true => 1,
            false => geometry.dies_per_package,
        };
        let queues = match in_order {
            true => geometry.channels,
            false => geometry.dies / dies_per_server,
        };
        let queue = Queue {
            reads: Fifo::EMPTY,
            pes: Fifo::EMPTY,
            reads_passed: 0,
        };
        let channels = geometry.channels as usize;
        Some(Transactions {
            in_order,
            serving: (commands.issue == Issue::ByRequest).then(|| vec![Owner(NIL); channels]),
            multi_plane: commands.multi_plane,
            several_dies: commands.die_interleave == DieInterleave::Composed,
            reads_before_program: profile.controller.reads_before_program,
            dies_per_channel: geometry.dies_per_channel,
            dies_per_server,
            wordlines_per_block: geometry.wordlines_per_block,
            entries: Slab::new(),
            queues: vec![queue; queues as usize],
            busy: vec![0; channels],
            waiting: vec![0; channels],
            draft: Draft::new(),
        })
    }

    /// Queues an operation of a die.
    pub(super) fn push(&mut self, channel: u32, way: u8, op: Op, owner: Owner) {
        let queue = match self.in_order {
            true => channel,
            false => (channel * self.dies_per_channel + u32::from(way)) / self.dies_per_server,
        };
        self.queues[queue as usize]
            .fifo(&op, self.in_order)
            .push(&mut self.entries, QueuedOp { op, way, owner });
        self.waiting[channel as usize] += 1;
    }

    /// A die has done all it was given.
    pub(super) fn die_done(&mut self, channel: u16, way: u8) {
        self.busy[usize::from(channel)] &= !(1 << way);
    }

    /// The dies of the server that a die belongs to, as a set.
    fn server_of(&self, way: u32) -> u64 {
        let first = way / self.dies_per_server * self.dies_per_server;
        (u64::MAX >> (64 - self.dies_per_server)) << first
    }

    /// Composes a transaction for every server of the channel that is free and has something to
    /// do, and gives its dies their operations. Returns these dies, as a set.
    pub(super) fn compose(
        &mut self,
        channel: u32,
        timing: &Timing,
        counts: &mut CommandCounts,
        mut give: impl FnMut(u8, Op),
    ) -> u64 {
        if self.waiting[channel as usize] == 0 {
            return 0;
        }
        let servers = match self.in_order {
            true => 1,
            false => self.dies_per_channel / self.dies_per_server,
        };
        let mut given = 0;
        for server in 0..servers {
            self.draft.clear();
            let dies = self.server_of(server * self.dies_per_server);
            if self.in_order {
                self.take_in_order(channel, timing, &mut give);
            } else if self.busy[channel as usize] & dies == 0 {
                self.take_for_server(channel, server, timing, &mut give);
            }
            self.count(counts);
            given |= self.draft.dies;
        }
        given
    }

    /// Takes from the head of the channel's queue until something has to wait for its server.
    fn take_in_order(&mut self, channel: u32, timing: &Timing, give: &mut impl FnMut(u8, Op)) {
        let busy = self.busy[channel as usize];
        loop {
            let index = self.queues[channel as usize].reads.head;
            if index == NIL {
                return;
            }
            let QueuedOp { op, way, owner } = self.entries[index];
            let op = first_command(op, timing);
            if !self.serves(channel, owner)
                || busy & self.server_of(u32::from(way)) != 0
                || !self.fits(way, &op, timing)
            {
                return;
            }
            self.take(channel, channel, NIL, index, op);
            give(way, op);
        }
    }

    /// Whether the channel serves the owner whose operation is at the head of its queue. A channel
    /// that has nothing else to do begins to.
    fn serves(&mut self, channel: u32, owner: Owner) -> bool {
        let Some(serving) = &mut self.serving else {
            return true;
        };
        let serving = &mut serving[channel as usize];
        if self.busy[channel as usize] == 0 {
            *serving = owner;
        }
        *serving == owner
    }

    /// Takes what the server's next transaction consists of.
    fn take_for_server(
        &mut self,
        channel: u32,
        server: u32,
        timing: &Timing,
        give: &mut impl FnMut(u8, Op),
    ) {
        let servers = self.dies_per_channel / self.dies_per_server;
        let queue = channel * servers + server;
        let mut index = self.choose(queue);
        let mut previous = NIL;
        for _ in 0..WINDOW {
            if index == NIL {
                return;
            }
            let QueuedOp { op, way, .. } = self.entries[index];
            let next = op.next;
            let op = first_command(op, timing);
            if self.fits(way, &op, timing) && !self.must_wait(queue, way, &op) {
                let whole = self.take(channel, queue, previous, index, op);
                give(way, op);
                if !whole {
                    previous = index;
                }
                if !self.multi_plane && !self.several_dies {
                    return;
                }
            } else {
                self.draft.passed[usize::from(way)] |= 1 << op.plane();
                previous = index;
            }
            index = next;
        }
    }

    /// The first of what a server is given next: reads before programs, but only so many, and before an
    /// erase all that must.
    fn choose(&mut self, queue: u32) -> u32 {
        let Queue {
            reads,
            pes,
            reads_passed,
        } = self.queues[queue as usize];
        let is_turn = reads.is_empty() || reads_passed >= self.reads_before_program;
        if !pes.is_empty() && is_turn {
            let QueuedOp { op, way, .. } = self.entries[pes.head];
            if !self.must_wait(queue, way, &op) {
                self.queues[queue as usize].reads_passed = 0;
                return pes.head;
            }
        }
        self.queues[queue as usize].reads_passed = match pes.is_empty() {
            true => 0,
            false => reads_passed + 1,
        };
        reads.head
    }

    /// Whether an operation is an erase, and a read of its block waits for the same server.
    fn must_wait(&self, queue: u32, way: u8, op: &Op) -> bool {
        let erases =
            |entry: &QueuedOp| entry.way == way && op.erases(&entry.op, self.wordlines_per_block);
        let reads = &self.queues[queue as usize].reads;
        op.kind == Kind::Erase && reads.any(&self.entries, erases)
    }

    /// Whether an operation can join what its server has been given in this round.
    fn fits(&self, way: u8, op: &Op, timing: &Timing) -> bool {
        let draft = &self.draft;
        let others = draft.dies & self.server_of(u32::from(way));
        if others == 0 {
            return true;
        }
        let (die, plane) = (usize::from(way), 1 << op.plane());
        // Programs and erases of one plane stay in order.
        if !op.is_read() && draft.passed[die] & plane != 0 {
            return false;
        }
        if others & (1 << way) != 0 {
            let part = &draft.parts[die];
            return self.multi_plane
                && part.planes & plane == 0
                && part.leader.shares_command(op, timing);
        }
        let other = &draft.parts[others.trailing_zeros() as usize];
        self.several_dies
            && std::mem::discriminant(&other.leader.kind) == std::mem::discriminant(&op.kind)
    }

    /// Enters an operation into the draft and takes it off its queue; true when nothing is left of
    /// what waited there.
    fn take(&mut self, channel: u32, queue: u32, previous: u32, index: u32, op: Op) -> bool {
        let entry = &mut self.entries[index];
        self.busy[channel as usize] |= 1 << entry.way;
        self.draft.enter(entry.way, op);
        if op.is_read() {
            entry.op.pages &= !op.pages;
            if entry.op.pages != 0 {
                return false;
            }
        }
        self.queues[queue as usize].fifo(&op, self.in_order).unlink(
            &mut self.entries,
            previous,
            index,
        );
        self.entries.remove(index);
        self.waiting[channel as usize] -= 1;
        true
    }

    /// Counts the transactions of the draft, if they read or program.
    fn count(&self, counts: &mut CommandCounts) {
        let mut dies = self.draft.dies;
        while dies != 0 {
            let way = dies.trailing_zeros();
            let mut members = dies & self.server_of(way);
            dies &= !members;
            let kind = self.draft.parts[way as usize].leader.kind;
            if !matches!(kind, Kind::Read(_) | Kind::Program) {
                continue;
            }
            let several_dies = !members.is_power_of_two();
            let (mut several_planes, mut pages) = (false, 0);
            while members != 0 {
                let part = &self.draft.parts[members.trailing_zeros() as usize];
                members &= members - 1;
                several_planes |= !part.planes.is_power_of_two();
                pages += part.pages;
            }
            counts.transaction(several_planes, several_dies, pages);
        }
    }
}

impl Queue {
    /// Where an operation waits.
    fn fifo(&mut self, op: &Op, in_order: bool) -> &mut Fifo {
        match op.kind {
            Kind::Program | Kind::Erase | Kind::Copyback if !in_order => &mut self.pes,
            _ => &mut self.reads,
        }
    }
}

impl Draft {
    fn new() -> Draft {
        let part = Part {
            leader: Op::new(Kind::Erase, 0, 0, 0),
            planes: 0,
            pages: 0,
        };
        Draft {
            dies: 0,
            parts: [part; 64],
            passed: [0; 64],
        }
    }

    fn clear(&mut self) {
        self.dies = 0;
        self.passed = [0; 64];
    }

    /// Adds an operation to the part of a die.
    fn enter(&mut self, way: u8, op: Op) {
        let part = &mut self.parts[usize::from(way)];
        if self.dies & (1 << way) == 0 {
            self.dies |= 1 << way;
            *part = Part {
                leader: op,
                planes: 0,
                pages: 0,
            };
        }
        part.planes |= 1 << op.plane();
        part.pages += op.pages.count_ones();
    }
}

/// What the die does of an operation at once: all of it, or what the first of its flash pages holds.
fn first_command(op: Op, timing: &Timing) -> Op {
    let pages = match op.kind {
        Kind::Read(melded) if !(melded && timing.melds(op.pages)) => {
            timing.on_first_flash_page(op.pages)
        }
        _ => op.pages,
    };
    Op { pages, ..op }
}
