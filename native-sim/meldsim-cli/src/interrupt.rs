//! Ctrl-C: the first asks for what is done so far, the second ends the program.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::output::note;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that was interrupted, as shells have it.
pub(crate) const EXIT_CODE: u8 = 130;

/// From now on Ctrl-C is noted. Where the system does not allow it, Ctrl-C ends the program as ever.
pub(crate) fn watch() {
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(EXIT_CODE));
        }
        note("\ninterrupted; the partial result follows. Press Ctrl-C again to quit at once.");
    });
}

/// Whether to go on.
pub(crate) fn flow() -> ControlFlow<()> {
    match INTERRUPTED.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}
