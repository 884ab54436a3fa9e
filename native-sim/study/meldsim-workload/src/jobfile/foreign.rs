//! What becomes of options and engines of fio that jobs here do not have.

use crate::declared::{self, Meaning};

/// Engines whose requests wait in a queue, `iodepth` deep.
const QUEUED: &str =
    "libaio, linuxaio, io_uring, io_uring_cmd, posixaio, solarisaio, windowsaio, xnvme, libblkio";
/// Engines that have one request outstanding, whatever `iodepth` says.
const SYNCHRONOUS: &str = "sync, psync, vsync, pvsync, pvsync2, mmap, splice";
/// Engines that ask nothing of a device: here it is asked.
const NULL: &str = "null, cpp_null";

/// How many requests an engine keeps outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// `iodepth`.
    Queued,
    /// One.
    Synchronous,
    /// `iodepth`, without a queue where that is 1.
    Null,
}

/// What fio does with an option or an engine.
pub(super) enum Foreign {
    /// It changes nothing here.
    PassedOver,
    /// It cannot be done. What was found and, after a semicolon, the remedy.
    Refused(String),
}

fn is_in(list: &str, word: &str) -> bool {
    list.split(", ").any(|other| other == word)
}

/// An option that is not of this program, if fio knows it.
pub(super) fn option(key: &str, value: &str) -> Option<Foreign> {
    let [asks, instead] = match declared::meaning(key)? {
        Meaning::Refused(reason) => reason,
        Meaning::PassedOver(_) => return Some(Foreign::PassedOver),
        Meaning::Own | Meaning::Engine(_) => return None,
    };
    // What is off is off here, too.
    Some(match value {
        "0" | "none" => Foreign::PassedOver,
        "complete" if key == "thinktime_blocks_type" => Foreign::PassedOver,
        "1024" if key == "kb_base" => Foreign::PassedOver,
        // What jobs do.
        "roundrobin" if key.ends_with("_select") => Foreign::PassedOver,
        _ => Foreign::Refused(format!("{asks}; {instead}")),
    })
}

/// Why an option is passed over, if it is.
pub(super) fn reason(key: &str) -> Option<&'static str> {
    match declared::meaning(key)? {
        Meaning::PassedOver(reason) => Some(reason),
        _ => None,
    }
}

/// Whether an engine is in a library of the user's own, or of SPDK.
pub fn is_own_engine(name: &str) -> bool {
    name.ends_with(".so") || name.starts_with("external:") || name.starts_with("spdk")
}

/// Whether an option is of what is compared; nothing is with `do_verify=0`.
pub(super) fn is_of_verify(key: &str) -> bool {
    declared::meaning(key) == declared::meaning("verify")
}

/// What the engine does.
///
/// # Errors
///
/// That it does something else than a device can be asked for.
pub(super) fn engine(name: &str) -> Result<Engine, String> {
    for (names, engine) in [
        (QUEUED, Engine::Queued),
        (SYNCHRONOUS, Engine::Synchronous),
        (NULL, Engine::Null),
    ] {
        if is_in(names, name) {
            return Ok(engine);
        }
    }
    // It is asked for requests as libaio is.
    if is_own_engine(name) {
        return Ok(Engine::Queued);
    }
    let remedy = "use libaio or io_uring, or remove the line";
    let reason = declared::engine(name).unwrap_or("is unknown");
    Err(format!("is \"{name}\", which {reason}; {remedy}"))
}
