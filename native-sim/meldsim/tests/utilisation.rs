//! Busy times of channels and dies.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use meldsim::{Command, Device, Directive, Duration, Instant, Location, Profile};

#[test]
fn only_the_die_that_reads_and_its_channel_are_busy() {
    let mut device = Device::new(&Profile::builtin("melded-tlc-8x8").unwrap()).unwrap();
    let nsid = device.create_namespace(1 << 30).unwrap();
    device.preload(nsid, 0, 1000, Directive::NONE).unwrap();
    let Location::Flash { channel, die, .. } = device.locate(nsid, 77).unwrap() else {
        panic!("it was preloaded");
    };
    device.submit(&Command::read(nsid, 77, 1, 0)).unwrap();
    let soon = Instant::START + Duration::from_us(1);
    assert!(!device.run_until_completion_or(soon));
    assert_eq!(device.now(), soon);
    assert!(device.run_until_completion_or(Instant::MAX));

    let (busy, stats) = (device.utilisation(), device.stats());
    assert_eq!((busy.channels_busy.len(), busy.dies_busy.len()), (8, 64));
    let sum = |times: &[Duration]| times.iter().copied().sum::<Duration>().as_ps();
    assert_eq!(sum(&busy.channels_busy), stats.channel_busy_ps);
    assert_eq!(sum(&busy.dies_busy), stats.die_busy_ps);
    assert_eq!(
        busy.channels_busy[channel as usize].as_ps(),
        stats.channel_busy_ps
    );
    let number = (channel * 8 + die) as usize;
    assert_eq!(busy.dies_busy[number].as_ps(), stats.die_busy_ps);
    assert!(stats.die_busy_ps > 0);
}
