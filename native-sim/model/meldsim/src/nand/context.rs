//! The channel context: a channel, its dies and what all channels share, for one event; and what each
//! die waits for.

use super::channel::Channel;
use super::counts::{CommandCounts, Packages};
use super::die::{Die, MaySuspend, Next, Suspensions, Wait};
use super::geometry::{Geometry, Unit};
use super::operation::{Kind, Op};
use super::timing::Timing;
use super::transactions::Transactions;
use crate::engine::{Instant, NIL, Slab};
use crate::policy::cells::{Array, Cells};
use crate::profile::{Arbitration, ChannelKind, Commands, Profile, ProfileError, Shortcuts};
use crate::timeline::Recorder;

/// What the channels have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) timing: Timing,
    pub(super) planes: u32,
    pub(super) wordlines_per_block: u32,
    pub(super) arbitration: Arbitration,
    pub(super) reads_before_program: u32,
    /// Reads of collections wait for the host's.
    pub(super) gc_yields: bool,
    /// What the dies understand.
    pub(super) commands: Commands,
    /// A die may take a command although it is not idle.
    pub(super) overlap: bool,
    /// Data may be granted the bus at the command before it. A die that overlaps operations may
    /// enter the arbitration at the end of a sense, so this is for the others.
    pub(super) early_grants: bool,
    /// All operations that wait on a die or that one is at work on.
    pub(super) ops: Slab<Op>,
    /// When each die's program or erase ends; apart from the dies, to be scanned quickly.
    pub(super) ends_at: Vec<Instant>,
    /// Where operations wait for a turn of their die, if not on the die.
    pub(super) transactions: Option<Box<Transactions>>,
    pub(super) suspensions: Option<Suspensions>,
    pub(super) packages: Packages,
    pub(super) counts: CommandCounts,
    /// Unless they are ideal.
    pub(super) cells: Option<Box<dyn Cells>>,
    /// Reads that are under way and will have failed; few at any time.
    pub(super) failing: Vec<u32>,
    /// Tells what happens, if anybody wants to know.
    pub(super) recorder: Option<Box<Recorder>>,
    /// What is left out of the code of channels: [shortcuts](Shortcuts) that no recorder suspends.
    pub(super) kind: ChannelKind,
    /// The same without a recorder.
    pub(super) best_kind: ChannelKind,
}

impl Shared {
    pub(super) fn new(profile: &Profile, geometry: &Geometry) -> Result<Shared, ProfileError> {
        let blocks = profile.geometry.blocks_per_plane;
        let array = Array::new(geometry.units(), blocks, geometry.wordlines_per_block);
        let cells = profile.make(profile.timing.cells, &array)?;
        let cells = (!cells.are_ideal()).then_some(cells);
        let commands = &profile.commands;
        let dies = geometry.dies as usize;
        let suspensions = Suspensions::new(commands, dies);
        let overlap = commands.cache_read || commands.cache_program || suspensions.is_some();
        let transactions = Transactions::new(profile, geometry).map(Box::new);
        let packages = Packages::new(geometry);
        let kind = Shortcuts::of(profile, cells.is_none()).channels;
        Ok(Shared {
            cells,
            failing: Vec::new(),
            timing: Timing::new(profile),
            planes: geometry.planes,
            wordlines_per_block: geometry.wordlines_per_block,
            arbitration: profile.bus.arbitration,
            reads_before_program: profile.controller.reads_before_program,
            gc_yields: profile.gc.reads_yield,
            commands: commands.clone(),
            overlap,
            early_grants: !overlap,
            ops: Slab::new(),
            ends_at: vec![Instant::MAX; dies],
            transactions,
            suspensions,
            packages,
            counts: CommandCounts::default(),
            recorder: None,
            kind,
            best_kind: kind,
        })
    }
}

/// A channel and its dies, found once for everything that one event does. A die is known here by its
/// number on the channel, its way.
///
/// `SINGLE` and `PLAIN` are known to the compiler, for speed: the shortcuts of these names are taken (`profile/shortcuts.rs`). The
/// general code does the same.
#[derive(Debug)]
pub(super) struct ChannelContext<'a, const SINGLE: bool, const PLAIN: bool> {
    pub(super) shared: &'a mut Shared,
    pub(super) channel: u32,
    /// The number of the first die.
    pub(super) first_die: u32,
    pub(super) bus: &'a mut Channel,
    pub(super) dies: &'a mut [Die],
}

impl<const SINGLE: bool, const PLAIN: bool> ChannelContext<'_, SINGLE, PLAIN> {
    /// Who is told what happens, if anybody is.
    #[inline]
    pub(super) fn recorder(&mut self) -> Option<&mut Recorder> {
        match SINGLE {
            true => None,
            false => self.shared.recorder.as_deref_mut(),
        }
    }

    /// Whether a die may take a command although it is not idle.
    #[inline]
    pub(super) fn overlaps(&self) -> bool {
        !PLAIN && self.shared.overlap
    }

    /// Whether several planes of a die may do one command.
    #[inline]
    pub(super) fn is_multi_plane(&self) -> bool {
        !SINGLE && self.shared.commands.multi_plane
    }

    /// Whether operations wait elsewhere than on their die.
    #[inline]
    pub(super) fn has_transactions(&self) -> bool {
        !SINGLE && self.shared.transactions.is_some()
    }

    /// The number of a die.
    #[inline]
    pub(super) fn index(&self, way: u32) -> usize {
        (self.first_die + way) as usize
    }

    #[inline]
    pub(super) fn unit(&self, way: u32, plane: u8) -> Unit {
        let planes = if SINGLE { 1 } else { self.shared.planes };
        Unit((self.first_die + way) * planes + u32::from(plane))
    }

    /// What a die does next.
    #[inline]
    pub(super) fn next(&self, way: u32) -> Next {
        let shared = &*self.shared;
        let (passing, wordlines) = (shared.reads_before_program, shared.wordlines_per_block);
        let die = &self.dies[way as usize];
        match PLAIN {
            true => die.next_plain(&shared.ops, passing, wordlines),
            false => die.next(&shared.ops, passing, wordlines),
        }
    }

    /// A die is given something to do.
    #[inline]
    pub(super) fn begin(&mut self, way: u32, now: Instant) {
        // Without overlap only an idle die is given anything.
        if self.overlaps() && !self.dies[way as usize].is_idle() {
            return;
        }
        let die = &mut self.dies[way as usize];
        debug_assert!(die.is_idle());
        die.busy_since = now;
        die.planes_used = 0;
        if !SINGLE && self.shared.packages.are_shared() {
            self.shared.packages.begin(self.index(way), now);
        }
    }

    /// A die has become idle; it may take what is queued.
    #[inline(always)]
    pub(super) fn end(&mut self, way: u32, now: Instant) {
        let die = &mut self.dies[way as usize];
        debug_assert!(die.is_idle());
        die.busy += now - die.busy_since;
        if !SINGLE && self.shared.planes > 1 {
            let planes = u64::from(die.planes_used.count_ones());
            die.counts.plane_busy += (now - die.busy_since) * planes;
        }
        if !SINGLE && self.shared.packages.are_shared() {
            self.shared.packages.end(self.index(way), now);
        }
        let (index, since) = (self.index(way), self.dies[way as usize].busy_since);
        if let Some(recorder) = self.recorder() {
            recorder.was_busy(index as u32, since, now);
        }
        if let (false, Some(transactions)) = (SINGLE, &mut self.shared.transactions) {
            let die = &self.dies[way as usize];
            if !die.has_queued() {
                transactions.die_done(die.channel, die.way);
            }
        }
        self.update_wait(way, now);
    }

    /// Enters a die where its next operation has to wait: in the ready list, or with the data.
    #[inline]
    pub(super) fn update_wait(&mut self, way: u32, now: Instant) {
        let wait = match self.overlaps() {
            true => self.wait_of_busy(way, now),
            false => wait_for(self.next(way)),
        };
        let die = &mut self.dies[way as usize];
        if wait == die.wait {
            return;
        }
        let bus = &mut *self.bus;
        if die.wait == Wait::DataIn {
            bus.data_in &= !(1 << way);
        }
        die.wait = wait;
        match wait {
            Wait::Command => bus.make_ready(way as u8),
            Wait::DataIn => bus.data_in |= 1 << way,
            Wait::Nothing => {}
        }
    }

    /// What a die could take now, when it need not be idle for that.
    pub(super) fn wait_of_busy(&mut self, way: u32, now: Instant) -> Wait {
        let die = &self.dies[way as usize];
        if die.loading != NIL {
            return Wait::Nothing; // the registers are taken
        }
        let next = self.next(way);
        if die.array_is_free() {
            return match next {
                Next::Read if self.shared.commands.cache_read => Wait::Command,
                _ if die.output != NIL => Wait::Nothing,
                _ => wait_for(next),
            };
        }
        if die.sensing != NIL {
            return Wait::Nothing;
        }
        let programs = self.shared.ops[die.executing].kind == Kind::Program;
        if !die.reads.is_empty() {
            match self.may_suspend(way, now) {
                MaySuspend::Now => return Wait::Command,
                MaySuspend::At(_) => {
                    self.bus.to_suspend |= 1 << way;
                    return Wait::Nothing;
                }
                MaySuspend::Never => {}
            }
        }
        match next {
            Next::Start(Kind::Program) if self.shared.commands.cache_program && programs => {
                Wait::DataIn
            }
            _ => Wait::Nothing,
        }
    }

    /// Whether what a die executes may be suspended.
    pub(super) fn may_suspend(&self, way: u32, now: Instant) -> MaySuspend {
        let Some(suspensions) = &self.shared.suspensions else {
            return MaySuspend::Never;
        };
        let (index, executing) = (self.index(way), self.dies[way as usize].executing);
        let kind = self.shared.ops[executing].kind;
        suspensions.may_suspend(index, kind, self.shared.ends_at[index], now)
    }
}

/// What a die whose array and registers are free waits for.
#[inline]
fn wait_for(next: Next) -> Wait {
    match next {
        Next::Nothing => Wait::Nothing,
        Next::Start(Kind::Program) => Wait::DataIn,
        Next::Read | Next::Start(_) | Next::Resume => Wait::Command,
    }
}
