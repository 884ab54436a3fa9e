//! The integration tests of this crate, in one program: one to link, whose tests run side by side.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "../support/mod.rs"]
mod support;

mod advise;
mod architecture;
mod bad_input;
mod c_abi;
mod calibrate;
mod determinism;
mod experiments;
mod fio_examples;
mod fio_plot;
mod fio_requests;
mod front_door;
mod import;
mod interrupt;
mod joined;
mod limits;
mod manners;
mod memory;
mod pages;
mod recorded;
mod release;
mod results;
mod schemas;
mod scripts;
mod sweep;
mod timeline;
mod traces;
mod what_if;
