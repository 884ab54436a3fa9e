//! A little of every command on a device whose profile nobody has seen before.

use meldsim::{Command, Device, Directive, NamespaceId, Pattern, Profile, Status};

/// A device small enough that a few commands fill it.
pub(super) fn tiny_profile() -> Profile {
    let text = include_str!("../../small.toml");
    Profile::from_toml(text).unwrap_or_else(|error| panic!("{error}"))
}

/// Writes, overwrites, reads, deallocates and flushes; panics unless every command completes, once.
pub(super) fn exercise(device: &mut Device) {
    let lba_bytes = device.profile().controller.lba_size.0;
    let Ok(nsid) = device.create_namespace(lba_bytes << 20) else {
        return;
    };
    let mut submitted = 0;
    for command in commands(nsid) {
        match device.submit(&command) {
            Ok(()) => submitted += 1,
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    let mut completed = 0;
    while device.run_until_completion() {
        while let Some(completion) = device.pop_completion() {
            completed += 1;
            let full = completion.status == Status::CAPACITY_EXCEEDED;
            assert!(full || completion.status == Status::SUCCESS);
        }
    }
    assert_eq!(completed, submitted, "a command was lost or invented");
    assert_eq!(device.outstanding(), 0);
    let stats = device.stats();
    assert!(stats.mapped_pages <= stats.capacity_pages);
}

fn commands(nsid: NamespaceId) -> impl Iterator<Item = Command> {
    let sequential = Directive::read_pattern(Pattern::Sequential);
    [
        Command::write(nsid, 0, 100, sequential, 1),
        Command::write(nsid, 1000, 33, Directive::NONE, 2),
        Command::read(nsid, 0, 100, 3),
        Command::flush(nsid, 4),
        Command::write(nsid, 50, 7, Directive::NONE, 5),
        Command::write(nsid, 99, 60, sequential, 6),
        Command::deallocate(nsid, 10, 30, 7),
        Command::read(nsid, 0, 200, 8),
        Command::read(nsid, 900, 200, 9),
        Command::flush(nsid, 10),
    ]
    .into_iter()
}
