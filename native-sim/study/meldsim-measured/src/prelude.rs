//! What every kind of measurement is written with: rows, questions, loads and what is simulated.

pub(crate) use super::csv::{Row, Table};
pub(crate) use super::drive::{Drive, Smaller, reached_by, reached_by_or};
pub(crate) use super::error::MeasureError;
pub(crate) use super::judge::{Bar, Class, Question};
pub(crate) use super::order::of_key;
pub(crate) use super::pattern::Pattern;
pub(crate) use super::progress::Progress;
pub(crate) use super::sources::{PAGE, latency_us, marks, random, run, sequential, writes};
pub(crate) use super::task::{Answer, Asked, Cells, Past, Simulation, Tasks, device};
pub(crate) use meldsim_host::{Arrivals, Measured, Source, transfer};
