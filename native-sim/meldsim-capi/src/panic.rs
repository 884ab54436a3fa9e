//! The panic boundary: no unwinding ever crosses into the caller's frames.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::error::{Failure, remember};

thread_local! {
    static INSIDE: Cell<u32> = const { Cell::new(0) };
    static TEXT: RefCell<Option<String>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Runs an entry point's body. A failure or a panic becomes a negative code and this thread's last error.
pub(crate) fn boundary<T: From<i32>>(body: impl FnOnce() -> Result<T, Failure>) -> T {
    match catch(body) {
        Ok(Ok(value)) => value,
        Ok(Err(failure)) => T::from(remember(&failure)),
        Err(text) => T::from(remember(&Failure::panic(text))),
    }
}

/// Runs `body`; a panic inside gives its text, with the place it came from.
///
/// The text goes to the caller instead of the process's standard error: a library inside a DataNode must not print.
pub(crate) fn catch<R>(body: impl FnOnce() -> R) -> Result<R, String> {
    HOOK.call_once(install_hook);
    INSIDE.set(INSIDE.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(body));
    INSIDE.set(INSIDE.get() - 1);
    outcome.map_err(|payload| {
        TEXT.take()
            .unwrap_or_else(|| payload_text(payload.as_ref()).to_owned())
    })
}

fn install_hook() {
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if INSIDE.get() == 0 {
            previous(info);
            return;
        }
        let text = payload_text(info.payload());
        let text = match info.location() {
            Some(at) => format!("{text} (at {}:{})", at.file(), at.line()),
            None => text.to_owned(),
        };
        TEXT.set(Some(text));
    }));
}

fn payload_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("panic without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_text_and_place() {
        let text = catch(|| panic!("out of {}", "wordlines")).unwrap_err();
        assert!(text.starts_with("out of wordlines (at "), "{text}");
        assert_eq!(catch(|| 7), Ok(7));
    }
}
