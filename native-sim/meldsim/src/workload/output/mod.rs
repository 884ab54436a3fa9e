//! The forms of a run's result, one file each.

mod csv;
mod fio;
mod page;
mod text;
