//! What stands between the model and a policy that is not of the tree: a fault of the policy ends the run, and names it.
//!
//! ```text
//!   the model --asks--> Guarded --asks--> a registered policy
//!             <--answer, checked--' '--a panic, a wrong answer--> PolicyFault, which unwinds to `caught`
//! ```

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use thiserror::Error;

use super::Kind;
use super::arbitration::{Arbitration, Priority, Shares};
use super::cells::{Cells, Place, Sensed};
use super::firmware::{Fetched, Firmware, Outbox, Usage};
use super::pacing::{Bounds, Pacing, Standing};
use super::placement::{Frontier, Page, Placement};
use super::victim::{Candidate, Log, Victims};
use super::wear::WearLevelling;
use crate::engine::{Duration, Instant};

/// Longer than any sense: what a model of cells may answer at most.
const LONGEST_SENSE: Duration = Duration::from_ms(1_000);

/// A registered policy panicked, or answered what its kind forbids. Whatever asked it is of no use any more.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: policy \"{policy}\": {call} {message}")]
#[non_exhaustive]
pub struct PolicyFault {
    /// The key that names its kind: `gc.victim`.
    pub key: &'static str,
    /// Its name.
    pub policy: &'static str,
    /// The function that was called: `rank`.
    pub call: &'static str,
    /// What it did: `panicked: index out of bounds`.
    pub message: String,
}

/// What a policy ends a run with; the guard adds whose it is.
struct Failed(String);

/// Ends the run that asks this policy: for one that cannot answer. What was wrong is `message`.
pub fn fail(message: impl Into<String>) -> ! {
    resume_unwind(Box::new(Failed(message.into())))
}

/// Runs what may ask policies.
///
/// # Errors
///
/// The fault of a registered policy. Other panics go on.
pub fn caught<T>(body: impl FnOnce() -> T) -> Result<T, PolicyFault> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| match payload.downcast() {
        Ok(fault) => *fault,
        Err(other) => resume_unwind(other),
    })
}

/// Asks a policy of a kind; what unwinds from it is its fault.
#[inline]
pub(super) fn ask<K: Kind + ?Sized, T>(
    policy: &'static str,
    call: &'static str,
    body: impl FnOnce() -> T,
) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(answer) => answer,
        Err(payload) => raised(K::KEY, policy, call, payload),
    }
}

/// What unwound from a policy goes on as its fault.
#[cold]
#[inline(never)]
fn raised(
    key: &'static str,
    policy: &'static str,
    call: &'static str,
    payload: Box<dyn Any + Send>,
) -> ! {
    raise(key, policy, call, text_of(payload.as_ref()))
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    match payload.downcast_ref::<Failed>() {
        Some(Failed(text)) => text.clone(),
        None => format!("panicked: {}", text.unwrap_or("without a message")),
    }
}

/// Ends the run for what a registered policy did.
#[cold]
pub(crate) fn raise(
    key: &'static str,
    policy: &'static str,
    call: &'static str,
    message: String,
) -> ! {
    resume_unwind(Box::new(PolicyFault {
        key,
        policy,
        call,
        message,
    }))
}

/// A registered policy.
#[derive(Debug)]
pub(crate) struct Guarded<K: ?Sized> {
    policy: Box<K>,
    name: &'static str,
    /// By number: of victims the place of a candidate among those given, counted from 1; of arbitration the commands that wait.
    seen: RefCell<Vec<u32>>,
}

impl<K: Kind + ?Sized> Guarded<K> {
    pub(crate) fn new(policy: Box<K>, name: &'static str) -> Guarded<K> {
        Guarded {
            policy,
            name,
            seen: RefCell::new(Vec::new()),
        }
    }

    #[inline]
    fn ask<T>(&self, call: &'static str, body: impl FnOnce(&K) -> T) -> T {
        ask::<K, T>(self.name, call, || body(&self.policy))
    }

    #[inline]
    fn tell<T>(&mut self, call: &'static str, body: impl FnOnce(&mut K) -> T) -> T {
        let policy = &mut self.policy;
        ask::<K, T>(self.name, call, || body(policy))
    }

    fn wrong(&self, call: &'static str, message: String) -> ! {
        raise(K::KEY, self.name, call, message)
    }
}

/// Hands calls to the policy as they are.
macro_rules! hand_on {
    ($(ask $ask:ident($($a:ident: $t:ty),*) -> $r:ty;)* $(tell $tell:ident($($b:ident: $u:ty),*) $(-> $s:ty)?;)*) => {
        $(fn $ask(&self, $($a: $t),*) -> $r {
            self.ask(stringify!($ask), |policy| policy.$ask($($a),*))
        })*
        $(fn $tell(&mut self, $($b: $u),*) $(-> $s)? {
            self.tell(stringify!($tell), |policy| policy.$tell($($b),*))
        })*
    };
}

impl Victims for Guarded<dyn Victims> {
    hand_on! {
        ask takes_empty_first() -> bool;
        ask follows_invalidations() -> bool;
        tell closed(superblock: &Candidate);
        tell invalidated(superblock: &Candidate, pages: u32);
        tell erased(number: u32);
    }

    fn rank(&self, superblocks: &mut Vec<Candidate>, most: usize, log: &Log) {
        let given = superblocks.clone();
        let mut places = self.seen.borrow_mut();
        places.clear();
        for (place, candidate) in (1..).zip(&given) {
            let number = candidate.number as usize;
            if places.len() <= number {
                places.resize(number + 1, 0);
            }
            places[number] = place;
        }
        self.ask("rank", |policy| policy.rank(superblocks, most, log));
        for answered in superblocks {
            let number = answered.number;
            match places.get_mut(number as usize).map(std::mem::take) {
                Some(place @ 1..) => *answered = given[place as usize - 1],
                _ => {
                    let is_given = given.iter().any(|candidate| candidate.number == number);
                    let how = match is_given {
                        true => "is named twice",
                        false => "was not given",
                    };
                    self.wrong("rank", format!("names superblock {number}, which {how}"))
                }
            }
        }
    }
}

impl Placement for Guarded<dyn Placement> {
    hand_on! {
        ask follows_streams() -> bool;
        ask moved() -> u8;
        tell of_write(page: Page, stream: u8) -> u8;
        tell of_move(page: Page, from: Frontier) -> u8;
        tell opened(superblock: u32, at: Frontier);
        tell collected(superblock: u32, written_at: Frontier);
    }
}

impl WearLevelling for Guarded<dyn WearLevelling> {
    hand_on! {
        ask order(erases: u32) -> u32;
        ask lags(erases: u32, most: u32) -> bool;
    }
}

impl Pacing for Guarded<dyn Pacing> {
    hand_on! {
        ask takes_turns() -> bool;
        ask steady_room() -> Option<u64>;
        ask most_credit() -> u64;
        ask admits(log: &Standing) -> bool;
        ask collects(log: &Standing) -> bool;
        ask holds_writes() -> bool;
        tell earned(log: &Standing, freed: u64) -> u64;
    }

    fn bounds(&self) -> Bounds {
        let bounds = self.ask("bounds", |policy| policy.bounds());
        if bounds.begin > bounds.end {
            let Bounds { begin, end } = bounds;
            self.wrong("bounds", format!("begins at {begin} and ends at {end}"));
        }
        bounds
    }

    fn enters(
        &mut self,
        room: u64,
        is_collected: bool,
        pages: u64,
        now: Instant,
    ) -> Option<Instant> {
        let time = self.tell("enters", |policy| {
            policy.enters(room, is_collected, pages, now)
        });
        if time.is_some_and(|time| time <= now) {
            self.wrong("enters", "names a time that has come".to_owned());
        }
        time
    }
}

impl Cells for Guarded<dyn Cells> {
    hand_on! {
        ask are_ideal() -> bool;
        tell programmed(at: Place, now: Instant);
        tell erased(block: Place, now: Instant);
    }

    fn sense(&mut self, at: Place, page: Option<u8>, time: Duration, now: Instant) -> Sensed {
        let sensed = self.tell("sense", |policy| policy.sense(at, page, time, now));
        if sensed.time > LONGEST_SENSE {
            let ms = sensed.time.as_ps() / Duration::from_ms(1).as_ps();
            self.wrong("sense", format!("takes {ms} ms, more than a second"));
        }
        sensed
    }
}

impl Arbitration for Guarded<dyn Arbitration> {
    hand_on! {
        tell set_shares(shares: Shares);
    }

    fn add_queue(&mut self, priority: Priority) {
        self.seen.get_mut().push(0);
        self.tell("add_queue", |policy| policy.add_queue(priority));
    }

    fn arrived(&mut self, queue: u32) {
        self.seen.get_mut()[queue as usize] += 1;
        self.tell("arrived", |policy| policy.arrived(queue));
    }

    fn grant(&mut self) -> Option<u32> {
        let queue = self.tell("grant", |policy| policy.grant())?;
        match self.seen.get_mut().get_mut(queue as usize) {
            Some(waiting @ 1..) => *waiting -= 1,
            _ => self.wrong(
                "grant",
                format!("names queue {queue}, which has no command"),
            ),
        }
        Some(queue)
    }

    // The guard counts, so it is told of all.
}

// Whether its commands are there is looked at by the device, which knows them.
impl Firmware for Guarded<dyn Firmware> {
    hand_on! {
        ask is_ideal() -> bool;
        ask running(core: u32) -> Option<(u32, &'static str, Duration)>;
        ask usage(now: Instant) -> Usage;
        tell accept(command: Fetched, outbox: &mut Outbox);
        tell step(number: u32, outbox: &mut Outbox);
        tell ended(request: u32, outbox: &mut Outbox);
        tell collected(pages: u64, outbox: &mut Outbox);
    }
}
