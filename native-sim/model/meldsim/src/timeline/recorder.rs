//! The recorder: keeps what is open of each operation, die and command, and makes records of it.

use std::fmt;

use super::{
    ArraySpan, BusSpan, BusUse, BusySpan, Collection, CommandRecord, CoreSpan, Gauge, Level, Part,
    Purpose, Record, Timeline, Work,
};
use crate::engine::{Duration, Instant};
use crate::nvme::{NamespaceId, Opcode, Status};

/// The way of one read on a die, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chain {
    /// When the die began to sense, after the command and a suspension.
    pub(crate) sense_start: Instant,
    pub(crate) sense_end: Instant,
    pub(crate) out_start: Instant,
    pub(crate) out_end: Instant,
    is_melded: bool,
    behind: Option<(Work, Purpose)>,
}

/// A command that is on its way.
#[derive(Clone, Copy, Debug)]
struct Open {
    number: u64,
    parts: [Duration; Part::COUNT],
    /// Up to where its time has been given to parts.
    until: Instant,
    /// The operation that ended last, which may be the one it waits for.
    last: Option<Chain>,
    melded_reads: u32,
    page_reads: u32,
    behind: Option<(Work, Purpose)>,
}

impl Open {
    fn new(number: u64, now: Instant) -> Open {
        Open {
            number,
            parts: [Duration::ZERO; Part::COUNT],
            until: now,
            last: None,
            melded_reads: 0,
            page_reads: 0,
            behind: None,
        }
    }

    /// Its time up to `until` went to a part.
    fn spend(&mut self, part: Part, until: Instant) {
        if until > self.until {
            self.parts[part as usize] += until - self.until;
            self.until = until;
        }
    }

    /// What it waited for on flash was the operation that ended last.
    fn end_operations(&mut self) {
        let Some(chain) = self.last.take() else {
            return;
        };
        let waited = chain.sense_start > self.until;
        self.spend(Part::DieWait, chain.sense_start);
        self.spend(Part::Sense, chain.sense_end);
        self.spend(Part::BusWait, chain.out_start);
        self.spend(Part::Transfer, chain.out_end);
        if waited {
            self.behind = chain.behind;
        }
    }
}

/// Spans of a die that are remembered.
const REMEMBERED: usize = 16;

/// What a die's array does and did last.
#[derive(Clone, Copy, Debug)]
struct Die {
    /// Since when it has executed its program or erase, or since when that is suspended.
    since: Instant,
    /// A ring of what it did last; nothing took no time.
    past: [(Work, Purpose, Instant, Instant); REMEMBERED],
    next: usize,
}

impl Die {
    fn new(now: Instant) -> Die {
        Die {
            since: now,
            past: [(Work::Program, Purpose::Buffer, now, now); REMEMBERED],
            next: 0,
        }
    }

    fn remember(&mut self, what: (Work, Purpose), (start, end): (Instant, Instant)) {
        self.past[self.next] = (what.0, what.1, start, end);
        self.next = (self.next + 1) % REMEMBERED;
    }

    /// What it did for most of the time between, as far as it is remembered.
    fn did_most(&self, from: Instant, until: Instant) -> Option<(Work, Purpose)> {
        let during = |&(_, _, start, end): &(Work, Purpose, Instant, Instant)| {
            end.min(until).saturating_since(start.max(from))
        };
        let mut most = (Duration::ZERO, None);
        for (at, span) in self.past.iter().enumerate() {
            let what = (span.0, span.1);
            let is_same = |other: &&(Work, Purpose, Instant, Instant)| (other.0, other.1) == what;
            // Each kind is added up where it comes first.
            if !self.past[..at].iter().any(|other| is_same(&other)) {
                let time = self.past[at..].iter().filter(is_same).map(during).sum();
                if time > most.0 {
                    most = (time, Some(what));
                }
            }
        }
        most.1
    }
}

/// Makes records.
pub(crate) struct Recorder {
    timeline: Box<dyn Timeline>,
    dies_per_channel: u32,
    /// By the operation's place among those that wait or are at work; those that have begun.
    chains: Vec<Option<Chain>>,
    /// By the die's number.
    dies: Vec<Die>,
    /// By the request's number; those that were submitted since the beginning and are outstanding.
    commands: Vec<Option<Open>>,
    next: u64,
    outstanding: u64,
    /// Levels that sets had last: of the write buffer and of free superblocks.
    levels: Vec<[u64; 2]>,
    /// Of each log that is collected: set, log, and what is known of the victim.
    collections: Vec<Collection>,
    /// The commands of a span. Reused.
    of_span: Vec<u64>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commands = self.next;
        f.debug_struct("Recorder")
            .field("commands", &commands)
            .finish_non_exhaustive()
    }
}

impl Recorder {
    /// For so many dies, of so many a channel.
    pub(crate) fn new(
        timeline: Box<dyn Timeline>,
        (dies, dies_per_channel): (u32, u32),
        now: Instant,
    ) -> Recorder {
        Recorder {
            timeline,
            dies_per_channel,
            chains: Vec::new(),
            dies: vec![Die::new(now); dies as usize],
            commands: Vec::new(),
            next: 0,
            outstanding: 0,
            levels: Vec::new(),
            collections: Vec::new(),
            of_span: Vec::new(),
        }
    }

    pub(crate) fn into_timeline(self) -> Box<dyn Timeline> {
        self.timeline
    }

    fn place(&self, die: u32) -> (u32, u32) {
        (die / self.dies_per_channel, die % self.dies_per_channel)
    }

    /// The commands of requests.
    fn note_commands(&mut self, requests: impl Iterator<Item = u32>) {
        self.of_span.clear();
        for request in requests {
            let Some(Some(command)) = self.commands.get(request as usize) else {
                continue;
            };
            if !self.of_span.contains(&command.number) {
                self.of_span.push(command.number);
            }
        }
    }

    /// A command that is outstanding and known.
    fn command(&mut self, request: u32) -> Option<&mut Open> {
        self.commands.get_mut(request as usize)?.as_mut()
    }

    /// The bus of a die's channel was or is held, for requests of the host's.
    pub(crate) fn bus(
        &mut self,
        die: u32,
        what: BusUse,
        (start, end): (Instant, Instant),
        requests: impl Iterator<Item = u32>,
    ) {
        self.note_commands(requests);
        let (channel, die) = self.place(die);
        self.timeline.record(&Record::Bus(BusSpan {
            channel,
            die,
            what,
            start,
            end,
            commands: &self.of_span,
        }));
    }

    fn array(
        &mut self,
        die: u32,
        planes: u16,
        (work, purpose): (Work, Purpose),
        (start, end): (Instant, Instant),
    ) {
        let (channel, way) = self.place(die);
        self.timeline.record(&Record::Array(ArraySpan {
            channel,
            die: way,
            planes,
            work,
            purpose,
            start,
            end,
            commands: &self.of_span,
        }));
        if work != Work::Suspended {
            self.dies[die as usize].remember((work, purpose), (start, end));
        }
    }

    /// A die senses for some reads: their places among the operations, and the requests they are for.
    pub(crate) fn senses(
        &mut self,
        die: u32,
        planes: u16,
        work: Work,
        (start, end): (Instant, Instant),
        reads: impl Iterator<Item = (u32, Option<u32>)> + Clone,
        own: Purpose,
    ) {
        for (operation, request) in reads.clone() {
            let command = request.and_then(|request| self.commands.get(request as usize)?.as_ref());
            let behind = command
                .filter(|command| start > command.until)
                .and_then(|command| self.dies[die as usize].did_most(command.until, start));
            let index = operation as usize;
            if self.chains.len() <= index {
                self.chains.resize(index + 1, None);
            }
            self.chains[index] = Some(Chain {
                sense_start: start,
                sense_end: end,
                is_melded: work == Work::MeldedSense,
                behind,
                ..Chain::default()
            });
        }
        let requests = reads.filter_map(|(_, request)| request);
        let purpose = match requests.clone().next() {
            None => own,
            Some(_) => Purpose::Host,
        };
        self.note_commands(requests);
        self.array(die, planes, (work, purpose), (start, end));
    }

    /// The pages of a read have crossed the bus.
    pub(crate) fn read_ended(
        &mut self,
        operation: u32,
        request: u32,
        (start, end): (Instant, Instant),
        is_first: bool,
    ) {
        let chain = self.chains.get_mut(operation as usize);
        let Some(chain) = chain.and_then(Option::take) else {
            return;
        };
        let Some(command) = self.command(request) else {
            return;
        };
        match chain.is_melded {
            true => command.melded_reads += u32::from(is_first),
            false => command.page_reads += 1,
        }
        command.last = Some(Chain {
            out_start: start,
            out_end: end,
            ..chain
        });
    }

    /// A die executes a program, an erase or a copyback from then on.
    pub(crate) fn executes(&mut self, die: u32, since: Instant) {
        self.dies[die as usize].since = since;
    }

    /// What a die executed has ended, or is suspended.
    pub(crate) fn executed(&mut self, die: u32, planes: u16, work: Work, until: Instant) {
        let since = std::mem::replace(&mut self.dies[die as usize].since, until);
        // Its command is still on the bus.
        if since > until {
            return;
        }
        self.of_span.clear();
        let purpose = match work {
            Work::Program => Purpose::Buffer,
            _ => Purpose::Collection,
        };
        self.array(die, planes, (work, purpose), (since, until));
    }

    /// A die that had suspended something goes on with it from then on.
    pub(crate) fn resumed(&mut self, die: u32, planes: u16, since: Instant) {
        let stopped = std::mem::replace(&mut self.dies[die as usize].since, since);
        self.of_span.clear();
        let what = (Work::Suspended, Purpose::Host);
        self.array(die, planes, what, (stopped, since));
    }

    /// A die has become idle.
    pub(crate) fn was_busy(&mut self, die: u32, start: Instant, end: Instant) {
        let (channel, die) = self.place(die);
        self.timeline.record(&Record::Busy(BusySpan {
            channel,
            die,
            start,
            end,
        }));
    }

    /// A core was at work.
    pub(crate) fn core(&mut self, span: CoreSpan) {
        self.timeline.record(&Record::Core(span));
    }

    fn level(&mut self, of: Gauge, at: Instant, value: u64) {
        self.timeline
            .record(&Record::Level(Level { of, at, value }));
    }

    /// What a set's write buffer holds, and its free superblocks.
    pub(crate) fn levels(&mut self, set: u32, at: Instant, buffered: u64, free: u64) {
        let index = set as usize;
        if self.levels.len() <= index {
            self.levels.resize(index + 1, [u64::MAX; 2]);
        }
        let [buffered_before, free_before] =
            std::mem::replace(&mut self.levels[index], [buffered, free]);
        if buffered != buffered_before {
            self.level(Gauge::WriteBuffer(set), at, buffered);
        }
        if free != free_before {
            self.level(Gauge::FreeSuperblocks(set), at, free);
        }
    }

    /// A victim has been chosen; its end is not known.
    pub(crate) fn collection_begins(&mut self, collection: Collection) {
        self.collections.push(collection);
    }

    /// The victim of a log is empty.
    pub(crate) fn collection_ends(&mut self, set: u32, log: u32, end: Instant) {
        let is_it = |open: &Collection| (open.set, open.log) == (set, log);
        if let Some(index) = self.collections.iter().position(is_it) {
            let collection = self.collections.swap_remove(index);
            self.timeline
                .record(&Record::Collection(Collection { end, ..collection }));
        }
    }

    /// A command was submitted.
    pub(crate) fn submitted(&mut self, request: u32, now: Instant) {
        let index = request as usize;
        let open = Open::new(self.next, now);
        if self.commands.len() <= index {
            self.commands.resize(index + 1, None);
        }
        self.commands[index] = Some(open);
        self.next += 1;
        self.outstanding += 1;
        self.level(Gauge::Outstanding, now, self.outstanding);
    }

    /// A command's time up to now went to a part.
    pub(crate) fn spend(&mut self, request: u32, part: Part, now: Instant) {
        if let Some(command) = self.command(request) {
            command.spend(part, now);
        }
    }

    /// The medium begins with operations of a command, after those before have ended.
    pub(crate) fn operations_begin(&mut self, request: u32, now: Instant) {
        if let Some(command) = self.command(request) {
            command.end_operations();
            command.spend(Part::Controller, now);
        }
    }

    /// The medium is through with a command.
    pub(crate) fn medium_ended(&mut self, request: u32, now: Instant) {
        self.operations_begin(request, now);
    }

    /// A command has completed. What of its record is the recorder's is filled in.
    pub(crate) fn completed(&mut self, request: u32, record: CommandRecord) {
        let now = record.completed;
        self.operations_begin(request, now);
        let open = self.commands.get_mut(request as usize);
        let Some(open) = open.and_then(Option::take) else {
            return;
        };
        let record = CommandRecord {
            number: open.number,
            slot: request,
            parts: open.parts,
            melded_reads: open.melded_reads,
            page_reads: open.page_reads,
            behind: open.behind,
            ..record
        };
        self.timeline.record(&Record::Command(record));
        self.outstanding -= 1;
        self.level(Gauge::Outstanding, now, self.outstanding);
    }
}

impl CommandRecord {
    /// What is known without the recorder.
    pub(crate) fn new(
        (tag, opcode, nsid): (u64, Opcode, NamespaceId),
        (start_byte, bytes): (u64, u64),
        (queue, status): (u16, Status),
        (submitted, completed): (Instant, Instant),
    ) -> CommandRecord {
        CommandRecord {
            number: 0,
            slot: 0,
            tag,
            opcode,
            nsid,
            start_byte,
            bytes,
            queue,
            status,
            melded_reads: 0,
            page_reads: 0,
            submitted,
            completed,
            parts: [Duration::ZERO; Part::COUNT],
            behind: None,
        }
    }
}
