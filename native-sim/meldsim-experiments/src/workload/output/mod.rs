//! The forms of a run's result, one file each.

mod csv;
mod fio;
pub(super) mod nines;
mod page;
mod text;
