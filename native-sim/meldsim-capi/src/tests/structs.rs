//! The structs of the header, by their size: an older caller's, a newer one's, and one that is not set.

use super::*;

const KNOWN: usize = size_of::<meldsim_nvm_set>();

/// Asks for NVM set 0 with a struct of that size; what is in its memory afterwards.
fn ask(rig: &Rig, size: u32) -> Result<[u64; 40], i32> {
    let mut memory = [u64::MAX; 40];
    let at = memory.as_mut_ptr();
    // SAFETY: the array is longer than any size that is not refused.
    let code = unsafe {
        at.cast::<u32>().write(size);
        meldsim_set_info(rig.handle, 0, at.cast())
    };
    match code {
        MELDSIM_OK => Ok(memory),
        code => Err(code),
    }
}

#[test]
fn an_older_caller_gets_the_fields_it_knows() {
    let rig = Rig::preloaded(1);
    let whole = ask(&rig, KNOWN as u32).unwrap();
    let older = ask(&rig, 24).unwrap();
    assert_eq!(older[0], 24, "the size stays, and reserved is 0");
    assert_eq!(older[1..3], whole[1..3]);
    assert!(whole[2] > 0, "pages that hold data");
    assert!(older[3..].iter().all(|&word| word == u64::MAX), "{older:?}");
}

#[test]
fn a_newer_caller_gets_zeros_for_the_fields_unknown_here() {
    let rig = Rig::preloaded(1);
    let newer = ask(&rig, KNOWN as u32 + 24).unwrap();
    let (known, rest) = newer.split_at(KNOWN / 8);
    assert_eq!(known[1..], ask(&rig, KNOWN as u32).unwrap()[1..KNOWN / 8]);
    assert_eq!(rest[..3], [0; 3]);
    assert!(rest[3..].iter().all(|&word| word == u64::MAX));
}

#[test]
fn a_size_that_was_not_set_is_an_error_that_says_so() {
    let rig = Rig::new();
    for size in [0, 4, 1025, u32::MAX] {
        assert_eq!(ask(&rig, size), Err(MELDSIM_ERR_ARGUMENT), "{size}");
        let expected = format!("the size of a meldsim_nvm_set is {size}; set it to sizeof");
        assert!(last_error().starts_with(&expected), "{}", last_error());
    }
    let mut memory = [0u64; 40];
    let odd = memory.as_mut_ptr().wrapping_byte_add(4).cast();
    for out in [std::ptr::null_mut(), odd] {
        // SAFETY: null and a pointer that is not aligned are the errors under test.
        let code = unsafe { meldsim_set_info(rig.handle, 0, out) };
        assert_eq!(code, MELDSIM_ERR_ARGUMENT);
        assert!(last_error().contains("meldsim_nvm_set"), "{}", last_error());
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct NewerCommand {
    known: meldsim_command,
    unknown: u64,
}

fn submit(rig: &Rig, commands: &[NewerCommand]) -> i64 {
    let (at, n) = (commands.as_ptr().cast(), commands.len() as u32);
    // SAFETY: as many commands as it says, each with its size set.
    unsafe { meldsim_submit_batch(rig.handle, at, n, 0) }
}

#[test]
fn structs_given_may_be_newer_when_they_say_nothing_new() {
    let rig = Rig::preloaded(1);
    let read = |slba| NewerCommand {
        known: meldsim_command {
            size: size_of::<NewerCommand>() as u32,
            opcode: MELDSIM_READ,
            nsid: rig.nsid,
            slba,
            nlb: 1,
            ..sized()
        },
        unknown: 0,
    };
    let ticket = submit(&rig, &[read(0), read(1), read(2)]);
    assert!(meldsim_wait(rig.handle, ticket, FOREVER) > 0);
    assert_eq!(rig.stat("host_read_bytes"), 3 * rig.lba_bytes);
    let argument = i64::from(MELDSIM_ERR_ARGUMENT);
    let mut news = [read(0), read(1)];
    news[1].unknown = 1;
    assert_eq!(submit(&rig, &news), argument);
    assert!(last_error().contains("first 40 bytes"), "{}", last_error());
    let mut mixed = [read(0), read(1)];
    mixed[1].known.size = size_of::<meldsim_command>() as u32;
    assert_eq!(submit(&rig, &mixed), argument);
    assert!(
        last_error().contains("number 1 of a list"),
        "{}",
        last_error()
    );
}

/// What a struct is like once it has got another field.
#[repr(C)]
#[derive(Clone, Copy)]
struct Grown {
    size: u32,
    old: u32,
    new: u64,
}

// SAFETY: integers from the size on, and no padding.
unsafe impl Versioned for Grown {
    const NAME: &str = "grown";
    const OLDEST: usize = 8;
}

#[test]
fn fields_that_an_older_caller_lacks_are_zero() {
    let given = |size| {
        let grown = Grown {
            size,
            old: 1,
            new: 2,
        };
        // SAFETY: it is as long as it says, or longer.
        unsafe { crate::entry::take(&grown) }.map(|taken| (taken.old, taken.new))
    };
    assert_eq!(given(16).unwrap(), (1, 2));
    assert_eq!(given(8).unwrap(), (1, 0));
}

#[test]
fn structs_given_may_not_be_shorter_than_they_have_ever_been() {
    let rig = Rig::new();
    let short = meldsim_queue_shares {
        size: 16,
        ..sized()
    };
    // SAFETY: the struct is longer than it says.
    let code = unsafe { meldsim_set_arbitration(rig.handle, &short) };
    assert_eq!(code, MELDSIM_ERR_ARGUMENT);
    assert!(
        last_error().contains("less than the 20"),
        "{}",
        last_error()
    );
}

#[test]
fn reserved_fields_are_kept_for_later() {
    let rig = Rig::new();
    let command = meldsim_command {
        opcode: MELDSIM_READ,
        nsid: rig.nsid,
        nlb: 1,
        reserved: 1,
        ..sized()
    };
    let range = meldsim_range {
        nlb: 1,
        reserved: 1,
        ..sized()
    };
    let config = meldsim_window_config {
        reserved: 1,
        ..sized()
    };
    // SAFETY: one of each, with their sizes set.
    let codes = unsafe {
        [
            meldsim_submit_batch(rig.handle, &command, 1, 0) as i32,
            meldsim_describe(rig.handle, rig.nsid, &range, 1),
            meldsim_deallocate(rig.handle, rig.nsid, &range, 1, 0, 0) as i32,
            meldsim_window_configure(rig.handle, 0, &config),
        ]
    };
    assert_eq!(codes, [MELDSIM_ERR_ARGUMENT; 4]);
    assert!(last_error().contains("reserved"), "{}", last_error());
}
