//! What several test files need.

use meldsim::profile::MeldedPartialRead;
use meldsim::{Command, Device, Directive, Duration, NamespaceId, Pattern, Profile};

pub(crate) const SEQUENTIAL: Directive = Directive::read_pattern(Pattern::Sequential);

/// Numbers that look random and are the same each time (xorshift); from any seed but 0.
#[derive(Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// The preset, as the published experiments use it.
pub(crate) fn published_profile() -> Profile {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.ftl.melded_partial_read = MeldedPartialRead::WholeWordline;
    profile
}

/// A device small enough to fill and churn quickly.
pub(crate) fn small_profile() -> Profile {
    Profile::from_toml(include_str!("small.toml")).unwrap()
}

pub(crate) fn device(profile: &Profile) -> (Device, NamespaceId) {
    let mut device = Device::new(profile).unwrap();
    let nsid = device.create_namespace(1 << 40).unwrap();
    (device, nsid)
}

/// Runs everything that is outstanding and returns the latency of the slowest command.
pub(crate) fn drain(device: &mut Device) -> Duration {
    let mut slowest = Duration::ZERO;
    while device.run_until_completion() {
        while let Some(completion) = device.pop_completion() {
            slowest = slowest.max(completion.latency());
        }
    }
    assert_eq!(device.outstanding(), 0);
    slowest
}

/// The latency of one burst of `bytes` from the start of data written with `directive`.
pub(crate) fn burst(profile: &Profile, bytes: u64, directive: Directive) -> Duration {
    let (mut device, nsid) = device(profile);
    let nlb = bytes.div_ceil(profile.controller.lba_size.0);
    device.preload(nsid, 0, nlb, directive).unwrap();
    device
        .submit(&Command::read(nsid, 0, nlb as u32, 0))
        .unwrap();
    drain(&mut device)
}

/// MiB/s of a burst of 128 MiB.
pub(crate) fn burst_mib_s(profile: &Profile, directive: Directive) -> f64 {
    128.0 / burst(profile, 128 << 20, directive).as_secs_f64()
}
