//! Profiles: any text is a device, or an error that says what is wrong and what to do.

use meldsim::profile::Kind;
use meldsim::{Device, Profile};

use super::exercise::exercise;

/// Devices beyond this many units of any table are built but not run.
const MANY: u64 = 1 << 22;

/// Reads `data` as a profile, builds its device and runs a few commands on it.
pub fn run(data: &[u8]) {
    meldsim_firmware::register();
    let text = String::from_utf8_lossy(data);
    let profile = match Profile::from_toml(&text) {
        Ok(profile) => profile,
        Err(errors) => {
            assert!(!errors.to_string().is_empty());
            return;
        }
    };
    let written = profile.to_toml();
    match Profile::from_toml(&written) {
        Ok(read) => assert_eq!(read, profile, "a profile changes when written and read"),
        Err(errors) => panic!("a profile that was read cannot be read back: {errors}\n{written}"),
    }
    let refused = profile.validate().err();
    if let Some(errors) = &refused {
        assert!(!errors.to_string().is_empty());
    }
    match Device::new(&profile) {
        Ok(mut device) => {
            assert_eq!(refused, None, "an impossible device was built");
            let geometry = &profile.geometry;
            let dies = u64::from(geometry.channels) * u64::from(geometry.dies_per_channel);
            let planes = dies * u64::from(geometry.planes_per_die);
            let is_small = planes * u64::from(geometry.blocks_per_plane) < MANY;
            if profile.kind == Kind::Xpoint || is_small {
                exercise(&mut device);
            }
        }
        Err(errors) => assert_eq!(Some(errors), refused),
    }
}
