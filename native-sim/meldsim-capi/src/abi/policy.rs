//! Policies of the caller's own: tables of functions under a name, which profiles name from then on.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_void};
use std::fmt;
use std::sync::{Mutex, PoisonError};

use meldsim::policy::placement::{FRONTIERS, Frontier, Page, Placement, Shape as PlacementShape};
use meldsim::policy::victim::{Candidate, Log, Shape, Victims};
use meldsim::policy::{Given, Kind, Make, Policy, check_new, fail, try_register};

use super::check_abi;
use crate::entry::{boundary, string};
use crate::error::{Failure, MELDSIM_OK};

/// A frontier from this number on is of garbage collection's, those below of the host's.
pub const MELDSIM_FRONTIER_COLLECTION: u32 = 256;
/// Flag of meldsim_victims: `rank` is also asked while there is a superblock without valid pages.
pub const MELDSIM_VICTIMS_RANK_EMPTY: u32 = 1;

/// A superblock that can be collected: closed, programmed, and with pages that are out of date.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct meldsim_candidate {
    /// sizeof(meldsim_candidate), as the library was compiled with it: from one of a list to the next.
    pub size: u32,
    /// Its number in its log.
    pub number: u32,
    /// When it was closed: pages that its log had been given by then.
    pub closed_at: u64,
    /// Pages whose data is current.
    pub valid: u32,
    /// How often it has been erased.
    pub erases: u32,
    /// The frontier that filled it; see MELDSIM_FRONTIER_COLLECTION.
    pub written_at: u32,
    /// 0.
    pub reserved: u32,
}

/// A victim policy: which superblock is collected next (`gc.victim`). Each function but `make` gets what that gave, and returns 0,
/// or a number below 0 to end the run with an error that names the policy. Null where nothing is to be done; `make`, `drop` and
/// `rank` are never null. A policy is used by one thread at a time, not always the same.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct meldsim_victims {
    /// sizeof(meldsim_victims).
    pub size: u32,
    /// MELDSIM_VICTIMS_RANK_EMPTY, or 0.
    pub flags: u32,
    /// For `make`.
    pub context: *mut c_void,
    /// Makes a policy for a log of so many superblocks of so many pages. Null when `options`, the profile's `[policy.NAME]` as a JSON
    /// object, are wrong.
    pub make: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            options: *const c_char,
            superblocks: u32,
            pages_per_superblock: u32,
        ) -> *mut c_void,
    >,
    /// Frees one.
    pub drop: Option<unsafe extern "C" fn(policy: *mut c_void)>,
    /// Writes the numbers of up to `most` of the `n` candidates to `ranked`, the first to be collected first, and returns how many.
    /// `now`: pages that the log has been given. What it answers follows from what it is given, and from what it was told.
    pub rank: Option<
        unsafe extern "C" fn(
            policy: *mut c_void,
            now: u64,
            candidates: *const meldsim_candidate,
            n: u32,
            most: u32,
            ranked: *mut u32,
        ) -> i32,
    >,
    /// A superblock has been closed.
    pub closed:
        Option<unsafe extern "C" fn(policy: *mut c_void, at: *const meldsim_candidate) -> i32>,
    /// So many pages of a superblock have gone out of date. It may be open.
    pub invalidated: Option<
        unsafe extern "C" fn(policy: *mut c_void, at: *const meldsim_candidate, pages: u32) -> i32,
    >,
    /// A superblock has been erased.
    pub erased: Option<unsafe extern "C" fn(policy: *mut c_void, number: u32) -> i32>,
}

/// A placement policy: with which data a page goes (`ftl.placement`). As meldsim_victims; `make`, `drop` and `of_write` are never
/// null.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct meldsim_placement {
    /// sizeof(meldsim_placement).
    pub size: u32,
    /// Frontiers of collection's, 1 to 8.
    pub moved: u32,
    /// For `make`.
    pub context: *mut c_void,
    /// Makes a policy for a log of so many superblocks of so many pages. Null when `options`, the profile's `[policy.NAME]` as a JSON
    /// object, are wrong.
    pub make: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            options: *const c_char,
            superblocks: u32,
            pages_per_superblock: u32,
        ) -> *mut c_void,
    >,
    /// Frees one.
    pub drop: Option<unsafe extern "C" fn(policy: *mut c_void)>,
    /// The frontier of the host's, 0 to 16, to which a page goes that is written in a stream, 0 for none. `space`: its namespace,
    /// from 0 in its NVM set.
    pub of_write: Option<
        unsafe extern "C" fn(policy: *mut c_void, space: u32, page: u64, stream: u32) -> i32,
    >,
    /// The frontier of collection's, below `moved`, to which a page goes that was written at a frontier. Null: 0.
    pub of_move:
        Option<unsafe extern "C" fn(policy: *mut c_void, space: u32, page: u64, from: u32) -> i32>,
    /// A superblock has been opened at a frontier.
    pub opened: Option<unsafe extern "C" fn(policy: *mut c_void, superblock: u32, at: u32) -> i32>,
    /// A superblock, written at a frontier, is collected from now on.
    pub collected:
        Option<unsafe extern "C" fn(policy: *mut c_void, superblock: u32, at: u32) -> i32>,
}

/// Registers a victim policy, which profiles name from then on: `gc.victim = "NAME"`. Where one was registered so under that name
/// before, the table replaces the earlier one for devices to come. Thread-safe. `abi_version` is MELDSIM_ABI_VERSION as the caller
/// was compiled with. `name`: small letters, digits and hyphens. `about`: what it does, in a line.
///
/// A function of the table that returns a number below 0, or names a superblock that it was not given, ends the call or the run
/// with MELDSIM_ERR_POLICY, whose text names the policy, and has the text of meldsim_policy_error.
///
/// Errors: MELDSIM_ERR_ABI, MELDSIM_ERR_ARGUMENT (null, another size, unknown flags, a name that is the library's own).
///
/// # Safety
/// `name` and `about` are null or NUL-terminated; `table` is null or points to a struct, whose functions stay callable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_register_victims(
    abi_version: u32,
    name: *const c_char,
    about: *const c_char,
    table: *const meldsim_victims,
) -> i32 {
    let make = |given: &mut Given<'_>, of: &Shape| {
        let size = (of.superblocks, of.pages_per_superblock);
        Ok(Box::new(Instance::new(&VICTIMS, given, size)) as Box<dyn Victims>)
    };
    // SAFETY: the contract of this function.
    unsafe { put(&VICTIMS, abi_version, (name, about), table, make) }
}

/// Registers a placement policy: `ftl.placement = "NAME"`. As `meldsim_register_victims`.
///
/// # Safety
/// As `meldsim_register_victims`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_register_placement(
    abi_version: u32,
    name: *const c_char,
    about: *const c_char,
    table: *const meldsim_placement,
) -> i32 {
    let make = |given: &mut Given<'_>, of: &PlacementShape| {
        let size = (of.superblocks, of.pages_per_superblock);
        Ok(Box::new(Instance::new(&PLACEMENTS, given, size)) as Box<dyn Placement>)
    };
    // SAFETY: the contract of this function.
    unsafe { put(&PLACEMENTS, abi_version, (name, about), table, make) }
}

/// Says why the calling thread's policy is about to return a number below 0, or null. A text that is not UTF-8 is left out.
///
/// # Safety
/// `text` is null or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_policy_error(text: *const c_char) -> i32 {
    boundary(|| {
        // SAFETY: the contract of this function.
        let text = unsafe { string(text, "text") }?;
        REASON.set(Some(text.to_owned()));
        Ok(MELDSIM_OK)
    })
}

thread_local! {
    static REASON: Cell<Option<String>> = const { Cell::new(None) };
}

/// Those that were registered, by name.
type Tables<T> = Mutex<BTreeMap<String, T>>;

static VICTIMS: Tables<meldsim_victims> = Mutex::new(BTreeMap::new());
static PLACEMENTS: Tables<meldsim_placement> = Mutex::new(BTreeMap::new());

// SAFETY: the context is the functions' business, whose contract says that threads change.
unsafe impl Send for meldsim_victims {}
// SAFETY: as above.
unsafe impl Send for meldsim_placement {}

type MakePolicy = unsafe extern "C" fn(
    context: *mut c_void,
    options: *const c_char,
    superblocks: u32,
    pages_per_superblock: u32,
) -> *mut c_void;
type FreePolicy = unsafe extern "C" fn(policy: *mut c_void);

/// What the tables of all kinds have.
trait Table: Copy + Send {
    /// Its context, what makes a policy and what frees it; nothing of one that is not whole, or of another version.
    fn parts(&self) -> Option<(*mut c_void, MakePolicy, FreePolicy)>;
}

impl Table for meldsim_victims {
    fn parts(&self) -> Option<(*mut c_void, MakePolicy, FreePolicy)> {
        let is_known = self.size as usize == size_of::<meldsim_victims>()
            && self.flags <= MELDSIM_VICTIMS_RANK_EMPTY;
        self.rank.filter(|_| is_known)?;
        Some((self.context, self.make?, self.drop?))
    }
}

impl Table for meldsim_placement {
    fn parts(&self) -> Option<(*mut c_void, MakePolicy, FreePolicy)> {
        let is_known = self.size as usize == size_of::<meldsim_placement>()
            && (1..=u32::from(FRONTIERS[1])).contains(&self.moved);
        self.of_write.filter(|_| is_known)?;
        Some((self.context, self.make?, self.drop?))
    }
}

/// Puts a table among those of its kind.
///
/// # Safety
/// The texts are null or NUL-terminated, `table` is null or points to a struct.
unsafe fn put<K: Kind + ?Sized, T: Table>(
    tables: &Tables<T>,
    abi_version: u32,
    (name, about): (*const c_char, *const c_char),
    table: *const T,
    make: Make<K>,
) -> i32 {
    boundary(|| {
        check_abi(abi_version)?;
        // SAFETY: the contract of this function.
        let (name, about) = unsafe { (string(name, "name")?, string(about, "about")?) };
        // SAFETY: as above.
        let table = unsafe { table.as_ref() }.filter(|table| table.parts().is_some());
        let table = table.ok_or_else(|| {
            let what = "is null, or its size, its flags or a function that it must have are not as meldsim.h says";
            Failure::argument(format!("the table {what}"))
        })?;
        let mut tables = tables.lock().unwrap_or_else(PoisonError::into_inner);
        if !tables.contains_key(name) {
            check_new::<K>(name).map_err(Failure::argument)?;
            // As long as the process: profiles name it by these.
            let policy = Policy {
                name: String::leak(name.to_owned()),
                about: String::leak(about.to_owned()),
                make,
            };
            try_register(policy).map_err(Failure::argument)?;
        }
        tables.insert(name.to_owned(), *table);
        Ok(MELDSIM_OK)
    })
}

/// A policy that a table's functions make up.
struct Instance<T: Table> {
    table: T,
    policy: *mut c_void,
}

// SAFETY: the contract of the tables: one thread at a time, not always the same.
unsafe impl<T: Table> Send for Instance<T> {}

impl<T: Table> Instance<T> {
    fn new(tables: &Tables<T>, given: &mut Given<'_>, (superblocks, pages): (u32, u32)) -> Self {
        let tables = tables.lock().unwrap_or_else(PoisonError::into_inner);
        let table = tables.get(given.policy()).copied();
        let made = table.and_then(|table| Some((table, table.parts()?)));
        let Some((table, (context, make, _))) = made else {
            fail("is not registered");
        };
        // What is called may register others.
        drop(tables);
        // JSON escapes NUL.
        let options = CString::new(given.json()).unwrap_or_default();
        REASON.take();
        // SAFETY: the contract of the table.
        let policy = unsafe { make(context, options.as_ptr(), superblocks, pages) };
        if policy.is_null() {
            refuse("refuses its options");
        }
        Instance { table, policy }
    }
}

impl<T: Table> Drop for Instance<T> {
    fn drop(&mut self) {
        if let Some((.., drop)) = self.table.parts() {
            // SAFETY: the contract of the table; nothing uses the policy any more.
            unsafe { drop(self.policy) };
        }
    }
}

impl<T: Table> fmt::Debug for Instance<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a policy of the caller's")
    }
}

/// Ends what asks the policy, with what it said of that.
fn refuse(otherwise: &str) -> ! {
    fail(REASON.take().unwrap_or_else(|| otherwise.to_owned()))
}

/// The answer of a policy, unless it is below 0.
fn answer(answer: i32) -> u32 {
    u32::try_from(answer).unwrap_or_else(|_| refuse(&format!("returned {answer}")))
}

fn number_of(frontier: Frontier) -> u32 {
    match frontier {
        Frontier::Host(number) => number.into(),
        Frontier::Collection(number) => MELDSIM_FRONTIER_COLLECTION + u32::from(number),
    }
}

fn candidate_of(candidate: &Candidate) -> meldsim_candidate {
    meldsim_candidate {
        size: size_of::<meldsim_candidate>() as u32,
        number: candidate.number,
        closed_at: candidate.closed_at,
        valid: candidate.valid,
        erases: candidate.erases,
        written_at: number_of(candidate.written_at),
        reserved: 0,
    }
}

impl Victims for Instance<meldsim_victims> {
    fn rank(&self, superblocks: &mut Vec<Candidate>, most: usize, log: &Log) {
        let Some(rank) = self.table.rank else { return };
        let given: Vec<meldsim_candidate> = superblocks.iter().map(candidate_of).collect();
        let most = most.min(given.len());
        let mut ranked = vec![0; most];
        // SAFETY: the contract of the table; the lists are as long as it is told.
        let count = answer(unsafe {
            let (n, most) = (given.len() as u32, most as u32);
            rank(
                self.policy,
                log.now,
                given.as_ptr(),
                n,
                most,
                ranked.as_mut_ptr(),
            )
        });
        if count as usize > most {
            fail(format!(
                "names {count} superblocks, more than the {most} that it was asked for"
            ));
        }
        let before = std::mem::take(superblocks);
        let Some(any) = before.first().copied() else {
            return;
        };
        // The rest of each is the guard's, which knows what was given.
        let named = |number| {
            let mut candidate = any;
            candidate.number = number;
            candidate
        };
        superblocks.extend(ranked.into_iter().take(count as usize).map(named));
    }

    fn takes_empty_first(&self) -> bool {
        self.table.flags & MELDSIM_VICTIMS_RANK_EMPTY == 0
    }

    fn closed(&mut self, superblock: &Candidate) {
        if let Some(closed) = self.table.closed {
            // SAFETY: the contract of the table.
            answer(unsafe { closed(self.policy, &candidate_of(superblock)) });
        }
    }

    fn follows_invalidations(&self) -> bool {
        self.table.invalidated.is_some()
    }

    fn invalidated(&mut self, superblock: &Candidate, pages: u32) {
        if let Some(invalidated) = self.table.invalidated {
            // SAFETY: the contract of the table.
            answer(unsafe { invalidated(self.policy, &candidate_of(superblock), pages) });
        }
    }

    fn erased(&mut self, number: u32) {
        if let Some(erased) = self.table.erased {
            // SAFETY: the contract of the table.
            answer(unsafe { erased(self.policy, number) });
        }
    }
}

/// A frontier's number; one that there is not is none of the policy's.
fn frontier(number: u32, most: u8) -> u8 {
    match u8::try_from(number) {
        Ok(frontier) if frontier < most => frontier,
        _ => fail(format!("names frontier {number} of {most}")),
    }
}

impl Placement for Instance<meldsim_placement> {
    fn moved(&self) -> u8 {
        self.table.moved as u8
    }

    fn of_write(&mut self, page: Page, stream: u8) -> u8 {
        let Some(of_write) = self.table.of_write else {
            return 0;
        };
        // SAFETY: the contract of the table.
        let number = unsafe { of_write(self.policy, page.space, page.number, stream.into()) };
        frontier(answer(number), FRONTIERS[0])
    }

    fn of_move(&mut self, page: Page, from: Frontier) -> u8 {
        let Some(of_move) = self.table.of_move else {
            return 0;
        };
        // SAFETY: the contract of the table.
        let number = unsafe { of_move(self.policy, page.space, page.number, number_of(from)) };
        frontier(answer(number), self.moved())
    }

    fn opened(&mut self, superblock: u32, at: Frontier) {
        if let Some(opened) = self.table.opened {
            // SAFETY: the contract of the table.
            answer(unsafe { opened(self.policy, superblock, number_of(at)) });
        }
    }

    fn collected(&mut self, superblock: u32, written_at: Frontier) {
        if let Some(collected) = self.table.collected {
            // SAFETY: the contract of the table.
            answer(unsafe { collected(self.policy, superblock, number_of(written_at)) });
        }
    }
}
