//! The handle table: an `i64` stands for a device, and a stale or invented one is an error.
//!
//! A handle is `generation << 32 | (slot + 1)`. Closing a device moves its slot to the next generation, so
//! the old handle never reaches a later device that reuses the slot.

use std::sync::{Arc, PoisonError, RwLock};

use crate::error::{Failure, MELDSIM_ERR_CAPACITY, MELDSIM_ERR_CLOSED};
use crate::session::Session;

/// More devices open at once than any host needs; a leak is noticed instead of eating memory.
const DEVICES_MAX: usize = 4096;
/// Generations stay below 2^31 so that a handle is always positive.
const GENERATION_MAX: u32 = i32::MAX as u32;

struct Slot {
    generation: u32,
    session: Option<Arc<Session>>,
}

static TABLE: RwLock<Vec<Slot>> = RwLock::new(Vec::new());

/// Gives `session` a handle, always positive.
pub(crate) fn insert(session: Session) -> Result<i64, Failure> {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let free = table
        .iter()
        .position(|slot| slot.session.is_none() && slot.generation < GENERATION_MAX);
    let index = match free {
        Some(index) => index,
        None if table.len() < DEVICES_MAX => {
            table.push(Slot {
                generation: 0,
                session: None,
            });
            table.len() - 1
        }
        None => {
            return Err(Failure::new(
                MELDSIM_ERR_CAPACITY,
                format!("{DEVICES_MAX} devices are open; close some first"),
            ));
        }
    };
    let slot = &mut table[index];
    slot.generation += 1;
    slot.session = Some(Arc::new(session));
    Ok(handle_of(slot, index))
}

/// The device behind `handle`.
pub(crate) fn get(handle: i64) -> Result<Arc<Session>, Failure> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    let index = live_index(&table, handle)?;
    table[index]
        .session
        .as_ref()
        .map(Arc::clone)
        .ok_or_else(|| closed(handle))
}

/// Takes the device behind `handle` out of the table; the handle is void from here on.
pub(crate) fn remove(handle: i64) -> Result<Arc<Session>, Failure> {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let index = live_index(&table, handle)?;
    table[index].session.take().ok_or_else(|| closed(handle))
}

/// The handles of all open devices.
pub(crate) fn open() -> Vec<i64> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    let slots = table.iter().enumerate();
    slots
        .filter(|(_, slot)| slot.session.is_some())
        .map(|(index, slot)| handle_of(slot, index))
        .collect()
}

fn handle_of(slot: &Slot, index: usize) -> i64 {
    i64::from(slot.generation) << 32 | (index as i64 + 1)
}

fn live_index(table: &[Slot], handle: i64) -> Result<usize, Failure> {
    let generation = handle >> 32;
    let index = (handle & 0xFFFF_FFFF) - 1;
    let slot = usize::try_from(index).ok().and_then(|at| table.get(at));
    match slot {
        Some(slot) if i64::from(slot.generation) == generation => Ok(index as usize),
        Some(slot) if (1..i64::from(slot.generation)).contains(&generation) => Err(closed(handle)),
        _ => Err(Failure::argument(format!(
            "handle {handle:#x} was never given out by meldsim_open"
        ))),
    }
}

fn closed(handle: i64) -> Failure {
    Failure::new(
        MELDSIM_ERR_CLOSED,
        format!("handle {handle:#x} has been closed"),
    )
}
