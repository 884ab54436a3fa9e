//! Transactions: what dies that share something are given to do together, and when.
//!
//! Without this the queue of each die feeds the die alone. Here operations wait for a *server*: a
//! package, whose dies may or may not work together, or a single die if they are independent. A
//! server executes one transaction at a time. It is composed when the server has become free, and
//! its operations are then put into the queues of its dies.
//!
//! ```text
//!   out of order: a queue for each server      in order: a queue for each channel
//!   w0  a d f                                  a b c d e f     head for a busy server: all wait
//!   w1  b c e                                                  by request: also when the channel is at work for another
//! ```

use super::command::shares_planes;
use super::counts::{Counts, Parallelism};
use super::geometry::Geometry;
use super::look::{Look, Shared};
use super::op::{Fifo, Queued, ReadOp, Work, WorkOp};
use super::timing::Timing;
use crate::engine::{NIL, Slab, Time};
use crate::profile::{DieInterleave, Issue, Profile};

/// How far down its queue a server looks for what fits into its transaction.
const WINDOW: usize = 256;

/// An operation that waits for its turn.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waiting {
    Read(ReadOp),
    Work(WorkOp),
}

/// A [`Waiting`] in its queue.
#[derive(Clone, Copy, Debug)]
struct Entry {
    op: Waiting,
    way: u8,
    /// For whom it is, as a number.
    owner: u32,
    next: u32,
}

impl Queued for Entry {
    fn next(&self) -> u32 {
        self.next
    }

    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// What waits for one server, or, in order, for one channel (all of it among the reads).
#[derive(Clone, Copy, Debug)]
struct Queue {
    reads: Fifo,
    works: Fifo,
    reads_passed: u32,
}

/// Transactions that are being composed on one channel.
#[derive(Debug)]
struct Draft {
    /// The dies that have got something, as a set.
    dies: u64,
    /// What each of them got first.
    leaders: [Waiting; 64],
    /// The planes each of them uses.
    planes: [u16; 64],
    pages: [u32; 64],
    /// The planes of each die for which something waits that came before.
    passed: [u16; 64],
}

#[derive(Debug)]
pub(super) struct Transactions {
    in_order: bool,
    /// For whom each channel works, if it may work for only one at a time.
    serving: Option<Vec<u32>>,
    multi_plane: bool,
    several_dies: bool,
    reads_before_program: u32,
    dies_per_channel: u32,
    dies_per_server: u32,
    entries: Slab<Entry>,
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
        let by_request = commands.issue == Issue::ByRequest;
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
            works: Fifo::EMPTY,
            reads_passed: 0,
        };
        Some(Transactions {
            in_order,
            serving: by_request.then(|| vec![NIL; geometry.channels as usize]),
            multi_plane: commands.multi_plane,
            several_dies: commands.die_interleave == DieInterleave::Composed,
            reads_before_program: profile.controller.reads_before_program,
            dies_per_channel: geometry.dies_per_channel,
            dies_per_server,
            entries: Slab::new(),
            queues: vec![queue; queues as usize],
            busy: vec![0; geometry.channels as usize],
            waiting: vec![0; geometry.channels as usize],
            draft: Draft::new(),
        })
    }

    pub(super) fn push(&mut self, channel: u32, way: u8, op: Waiting, owner: u32) {
        let index = if self.in_order {
            channel
        } else {
            (channel * self.dies_per_channel + u32::from(way)) / self.dies_per_server
        };
        let queue = &mut self.queues[index as usize];
        let fifo = match op {
            Waiting::Work(_) if !self.in_order => &mut queue.works,
            _ => &mut queue.reads,
        };
        let next = NIL;
        fifo.push(
            &mut self.entries,
            Entry {
                op,
                way,
                owner,
                next,
            },
        );
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
    fn compose(
        &mut self,
        channel: u32,
        timing: &Timing,
        counts: &mut Counts,
        mut give: impl FnMut(u8, Waiting),
    ) -> u64 {
        if self.waiting[channel as usize] == 0 {
            return 0;
        }
        self.draft.clear();
        if self.in_order {
            self.take_in_order(channel, timing, &mut give);
            self.count(self.draft.dies, counts);
            return self.draft.dies;
        }
        let servers = self.dies_per_channel / self.dies_per_server;
        let mut given = 0;
        for server in 0..servers {
            let dies = self.server_of(server * self.dies_per_server);
            if self.busy[channel as usize] & dies == 0 {
                self.draft.clear();
                self.take_for_server(channel, server, timing, &mut give);
                self.count(self.draft.dies, counts);
                given |= self.draft.dies;
            }
        }
        given
    }

    /// Takes from the head of the channel's queue until something has to wait for its server.
    fn take_in_order(&mut self, channel: u32, timing: &Timing, give: &mut impl FnMut(u8, Waiting)) {
        let busy = self.busy[channel as usize];
        loop {
            let index = self.queues[channel as usize].reads.head;
            if index == NIL {
                return;
            }
            let Entry { op, way, owner, .. } = self.entries[index];
            if !self.serves(channel, owner) {
                return;
            }
            let op = first_command(op, timing);
            let server = self.server_of(u32::from(way));
            if busy & server != 0 || !self.fits(way, &op) {
                return;
            }
            self.take(channel, channel, NIL, index, op);
            give(way, op);
        }
    }

    /// Whether the channel works for this owner, now that it is his turn.
    fn serves(&mut self, channel: u32, owner: u32) -> bool {
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
        give: &mut impl FnMut(u8, Waiting),
    ) {
        let servers = self.dies_per_channel / self.dies_per_server;
        let queue_index = channel * servers + server;
        let queue = &mut self.queues[queue_index as usize];
        let mut index = queue.choose(self.reads_before_program);
        let mut previous = NIL;
        for _ in 0..WINDOW {
            if index == NIL {
                return;
            }
            let Entry { op, way, next, .. } = self.entries[index];
            let op = first_command(op, timing);
            if self.fits(way, &op) {
                let whole = self.take(channel, queue_index, previous, index, op);
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

    /// Whether an operation can join what its server has been given in this round.
    fn fits(&self, way: u8, op: &Waiting) -> bool {
        let draft = &self.draft;
        let others = draft.dies & self.server_of(u32::from(way));
        if others == 0 {
            return true;
        }
        let (die, plane) = (usize::from(way), 1 << op.plane());
        // Programs and erases of one plane stay in order.
        if op.is_work() && draft.passed[die] & plane != 0 {
            return false;
        }
        if others & (1 << way) != 0 {
            return self.multi_plane
                && draft.planes[die] & plane == 0
                && draft.leaders[die].shares_planes_with(op);
        }
        let leader = &draft.leaders[others.trailing_zeros() as usize];
        self.several_dies && leader.is_kind_of(op)
    }

    /// Enters an operation into the draft and takes it off its queue; true when nothing is left of
    /// what waited there.
    fn take(&mut self, channel: u32, queue: u32, previous: u32, index: u32, op: Waiting) -> bool {
        let way = self.entries[index].way;
        let die = usize::from(way);
        let draft = &mut self.draft;
        if draft.dies & (1 << way) == 0 {
            draft.dies |= 1 << way;
            draft.leaders[die] = op;
            draft.planes[die] = 0;
            draft.pages[die] = 0;
        }
        draft.planes[die] |= 1 << op.plane();
        draft.pages[die] += op.pages().count_ones();
        self.busy[channel as usize] |= 1 << way;
        if let (Waiting::Read(waiting), Waiting::Read(taken)) = (&mut self.entries[index].op, op) {
            waiting.pages &= !taken.pages;
            if waiting.pages != 0 {
                return false;
            }
        }
        let queue = &mut self.queues[queue as usize];
        let fifo = match op {
            Waiting::Work(_) if !self.in_order => &mut queue.works,
            _ => &mut queue.reads,
        };
        fifo.unlink(&mut self.entries, previous, index);
        self.entries.remove(index);
        self.waiting[channel as usize] -= 1;
        true
    }

    /// Counts the transactions of these dies.
    fn count(&self, mut dies: u64, counts: &mut Counts) {
        while dies != 0 {
            let way = dies.trailing_zeros();
            let mut members = dies & self.server_of(way);
            dies &= !members;
            if !self.draft.leaders[way as usize].moves_pages() {
                continue;
            }
            let several_dies = !members.is_power_of_two();
            let (mut several_planes, mut pages) = (false, 0);
            while members != 0 {
                let die = members.trailing_zeros() as usize;
                members &= members - 1;
                several_planes |= !self.draft.planes[die].is_power_of_two();
                pages += self.draft.pages[die];
            }
            counts.transaction(Parallelism::of(several_planes, several_dies), pages);
        }
    }
}

impl Queue {
    /// The first of what is served next: reads before programs, but only so many.
    fn choose(&mut self, reads_before_program: u32) -> u32 {
        if self.works.is_empty() {
            self.reads_passed = 0;
            return self.reads.head;
        }
        if self.reads.is_empty() || self.reads_passed >= reads_before_program {
            self.reads_passed = 0;
            return self.works.head;
        }
        self.reads_passed += 1;
        self.reads.head
    }
}

impl Draft {
    fn new() -> Draft {
        let nothing = WorkOp {
            kind: Work::Erase,
            plane: 0,
            pages: 0,
            row: 0,
            token: 0,
            next: NIL,
        };
        Draft {
            dies: 0,
            leaders: [Waiting::Work(nothing); 64],
            planes: [0; 64],
            pages: [0; 64],
            passed: [0; 64],
        }
    }

    fn clear(&mut self) {
        self.dies = 0;
        self.passed = [0; 64];
    }
}

impl Waiting {
    fn plane(&self) -> u8 {
        match self {
            Waiting::Read(op) => op.plane,
            Waiting::Work(op) => op.plane,
        }
    }

    fn pages(&self) -> u8 {
        match self {
            Waiting::Read(op) => op.pages,
            Waiting::Work(op) => op.pages,
        }
    }

    fn is_work(&self) -> bool {
        matches!(self, Waiting::Work(_))
    }

    /// Reads and programs are what the parallelism of transactions is counted of.
    fn moves_pages(&self) -> bool {
        match self {
            Waiting::Read(_) => true,
            Waiting::Work(op) => op.kind == Work::Program,
        }
    }

    fn is_kind_of(&self, other: &Waiting) -> bool {
        match (self, other) {
            (Waiting::Read(_), Waiting::Read(_)) => true,
            (Waiting::Work(a), Waiting::Work(b)) => a.kind == b.kind,
            _ => false,
        }
    }

    /// Whether two operations on different planes of a die can be one command.
    fn shares_planes_with(&self, other: &Waiting) -> bool {
        match (self, other) {
            (Waiting::Read(a), Waiting::Read(b)) => {
                a.row == b.row && a.pages == b.pages && a.melded == b.melded
            }
            (Waiting::Work(a), Waiting::Work(b)) => shares_planes(a, b),
            _ => false,
        }
    }
}

/// What the die does of an operation at once: all of it, or the first of pages sensed one by one.
fn first_command(op: Waiting, timing: &Timing) -> Waiting {
    match op {
        Waiting::Read(read) if !(read.melded && timing.melds(read.pages)) => {
            let pages = read.pages & read.pages.wrapping_neg();
            Waiting::Read(ReadOp { pages, ..read })
        }
        _ => op,
    }
}

impl Look<'_> {
    /// Gives the free servers of the channel their next transactions.
    pub(super) fn start_transactions(&mut self, now: Time) {
        let Shared {
            timing,
            reads,
            works,
            transactions: Some(transactions),
            counts,
            ..
        } = &mut *self.shared
        else {
            return;
        };
        let mut given = transactions.compose(self.channel, timing, counts, |way, op| {
            let die = &mut self.dies[usize::from(way)];
            match op {
                Waiting::Read(op) => die.reads.push(reads, ReadOp { next: NIL, ..op }),
                Waiting::Work(op) => die.works.push(works, op),
            }
        });
        while given != 0 {
            self.enter_arbitration(given.trailing_zeros(), now);
            given &= given - 1;
        }
    }
}
