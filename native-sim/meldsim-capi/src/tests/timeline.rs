//! What a device keeps of its past, and the file that it becomes.

use std::fs::File;
use std::path::Path;

use meldsim::timeline::{BusUse, Record};
use meldsim_timeline::Recorded;

use super::*;

fn stop(rig: &Rig, path: &Path) -> (i64, u64) {
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let mut lost = 0;
    // SAFETY: a NUL-terminated path and a writable count.
    let records = unsafe { meldsim_timeline_stop(rig.handle, path.as_ptr(), &mut lost) };
    (records, lost)
}

/// Commands, their bytes, bytes of melded pages, and picoseconds of all buses in a file.
fn read(path: &Path) -> (u64, u64, u64, u64) {
    let recorded = Recorded::read(File::open(path).unwrap()).unwrap();
    let (mut commands, mut bytes, mut melded, mut bus) = (0, 0, 0, 0);
    recorded
        .replay(|record| match record {
            Record::Command(command) => {
                commands += 1;
                bytes += command.bytes;
                melded += u64::from(command.melded_reads);
            }
            Record::Bus(span) => {
                assert!(span.what != BusUse::DataIn, "nothing is programmed");
                bus += (span.end - span.start).as_ps();
            }
            _ => {}
        })
        .unwrap();
    (commands, bytes, melded, bus)
}

fn bus_busy(rig: &Rig) -> u64 {
    let mut busy = [0; 64];
    // SAFETY: room for 64 channels.
    assert!(unsafe { meldsim_channels_busy_ps(rig.handle, busy.as_mut_ptr(), 64) } > 0);
    busy.iter().sum()
}

#[test]
fn what_the_device_did_between_start_and_stop_is_in_the_file() {
    let rig = Rig::preloaded(8);
    rig.read(0, 4 * MIB);
    let before = bus_busy(&rig);
    ok(meldsim_timeline_start(rig.handle, 16 << 20));
    for at in 0..8 {
        rig.read(at * MIB, MIB);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records");
    let (records, lost) = stop(&rig, &path);
    let (commands, bytes, melded, bus) = read(&path);
    assert!(records > 0, "{}", last_error());
    assert_eq!((lost, commands, bytes), (0, 8, 8 * MIB));
    assert!(melded > 0);
    assert_eq!(bus, bus_busy(&rig) - before, "to the picosecond");

    rig.read(0, MIB);
    let again = folder.path().join("again");
    assert_eq!(stop(&rig, &again), (0, 0), "it has ended");
    assert!(!again.exists());
}

#[test]
fn the_oldest_make_room() {
    let rig = Rig::preloaded(8);
    ok(meldsim_timeline_start(rig.handle, 1 << 16));
    for _ in 0..4 {
        for at in 0..8 {
            rig.read(at * MIB, MIB);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records");
    let (records, lost) = stop(&rig, &path);
    assert!(records > 500 && lost > records as u64, "{records} {lost}");
    let (commands, bytes, ..) = read(&path);
    assert!((1..32).contains(&commands));
    assert_eq!(bytes, commands * MIB);
    assert_eq!(
        Recorded::read(File::open(&path).unwrap()).unwrap().lost,
        lost
    );
}

#[test]
fn what_cannot_be_kept_or_written_is_refused() {
    let rig = Rig::preloaded(1);
    assert_eq!(
        meldsim_timeline_start(rig.handle, 100),
        MELDSIM_ERR_ARGUMENT
    );
    ok(meldsim_timeline_start(rig.handle, 1 << 20));
    let folder = tempfile::tempdir().unwrap();
    let (status, _) = stop(&rig, folder.path());
    assert_eq!(status, i64::from(MELDSIM_ERR_ARGUMENT));
    assert!(last_error().contains("give a new file"), "{}", last_error());

    let optane = open("optane-900p").unwrap();
    assert_eq!(
        meldsim_timeline_start(optane, 1 << 20),
        MELDSIM_ERR_ARGUMENT
    );
    meldsim_close(optane);
}
