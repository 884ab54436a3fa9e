//! Snapshots: what survives a power cut, as bytes.
//!
//! ```text
//!   "MELDSNAP" | version u32 | body length u64 | body CRC-32 u32 | body
//! ```
//!
//! Numbers are little endian. The body is in postcard's format: fields in order, integers in as
//! few bytes as they need. The profile is JSON in it: a key that is not there has its default, so that a version may
//! have more of them than the one before.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Device;
use crate::ftl::SavedFtl;
use crate::profile::Profile;

const MAGIC: &[u8; 8] = b"MELDSNAP";
/// Of the body; to be raised whenever what is in it changes, other than by a key of the profile.
const VERSION: u32 = 6;
/// With zones after the rest: that of a zoned device. The number between is for the next of the others.
const ZONED: u32 = 8;
const HEADER_BYTES: usize = 24;

/// Why bytes are not taken as a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SnapshotError {
    /// Something else.
    #[error("this is no snapshot of a device; give what `Device::snapshot` returned")]
    NotASnapshot,
    /// Made by another version of the simulator.
    #[error(
        "the snapshot has version {found}, this simulator reads {VERSION} and {ZONED}; make it anew with this version"
    )]
    Version {
        /// The snapshot's version.
        found: u32,
    },
    /// Not as long as it says.
    #[error("the snapshot's body has {found} bytes instead of {expected}; it was cut or added to")]
    Length {
        /// Bytes it should have.
        expected: u64,
        /// Bytes it has.
        found: u64,
    },
    /// Changed since it was made.
    #[error("the snapshot's checksum is wrong; it was damaged")]
    Checksum,
    /// Intact, and yet no state of a device.
    #[error("the snapshot contradicts itself ({what}); make it anew")]
    Inconsistent {
        /// What is wrong.
        what: String,
    },
}

/// What is in a snapshot.
#[derive(Debug, Serialize, Deserialize)]
struct Body {
    /// As JSON.
    profile: String,
    /// The NVM set and the size in bytes of each namespace.
    namespaces: Vec<(u32, u64)>,
    sets: Vec<SavedFtl>,
}

impl Device {
    /// What would survive if the power were cut now: all data whose write has been acknowledged, and
    /// the wear of the blocks. Commands on their way are lost, and so are programs, erases and the
    /// counters; pages in the write buffer, which is protected, are not.
    pub fn snapshot(&self) -> Result<Vec<u8>, SnapshotError> {
        let namespaces = self.namespaces().iter().map(|namespace| {
            let bytes = namespace.size_lbas * namespace.lba_bytes;
            (self.set_of(namespace.id).unwrap_or(0), bytes)
        });
        let impossible = |error: serde_json::Error| SnapshotError::Inconsistent {
            what: error.to_string(),
        };
        let body = Body {
            profile: serde_json::to_string(&self.profile).map_err(impossible)?,
            namespaces: namespaces.collect(),
            sets: self.medium.save(),
        };
        match self.save_zones() {
            None => encode(&body),
            Some(zones) => encode_as(ZONED, &(body, zones)),
        }
    }

    /// The device after the power has come back. Its time and its counters begin anew.
    pub fn restore(snapshot: &[u8]) -> Result<Device, SnapshotError> {
        let impossible = |what: String| SnapshotError::Inconsistent { what };
        let (body, zones): (Body, _) = match version(snapshot)? {
            ZONED => decode(snapshot)?,
            _ => (decode(snapshot)?, Vec::new()),
        };
        let profile = serde_json::from_str(&body.profile);
        let profile: Profile = profile.map_err(|error| impossible(error.to_string()))?;
        let mut device = Device::new(&profile).map_err(|error| impossible(error.to_string()))?;
        for &(set, bytes) in &body.namespaces {
            device
                .create_namespace_in(set, bytes)
                .map_err(|error| impossible(error.to_string()))?;
        }
        let (profile, namespaces) = (&device.profile, &device.namespaces);
        device
            .medium
            .load(&mut device.queue, profile, namespaces, &body.sets)
            .map_err(impossible)?;
        device.load_zones(&zones).map_err(impossible)?;
        Ok(device)
    }
}

/// The snapshot with this body.
fn encode(body: &impl Serialize) -> Result<Vec<u8>, SnapshotError> {
    encode_as(VERSION, body)
}

fn encode_as(version: u32, body: &impl Serialize) -> Result<Vec<u8>, SnapshotError> {
    let header = vec![0; HEADER_BYTES];
    let mut bytes = postcard::to_extend(body, header).map_err(|error| inconsistent(&error))?;
    let body = &bytes[HEADER_BYTES..];
    let (length, checksum) = (body.len() as u64, crc32fast::hash(body));
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&version.to_le_bytes());
    bytes[12..20].copy_from_slice(&length.to_le_bytes());
    bytes[20..24].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// The version of a snapshot, if it is one that is read.
fn version(snapshot: &[u8]) -> Result<u32, SnapshotError> {
    let (magic, rest) = split::<8>(snapshot)?;
    if &magic != MAGIC {
        return Err(SnapshotError::NotASnapshot);
    }
    let found = u32::from_le_bytes(split(rest)?.0);
    match found {
        VERSION | ZONED => Ok(found),
        _ => Err(SnapshotError::Version { found }),
    }
}

/// The body of a snapshot that is one, whole and undamaged.
fn decode<'a, T: Deserialize<'a>>(snapshot: &'a [u8]) -> Result<T, SnapshotError> {
    version(snapshot)?;
    let (length, rest) = split(&snapshot[12..])?;
    let (checksum, body) = split(rest)?;
    let (expected, found) = (u64::from_le_bytes(length), body.len() as u64);
    if expected != found {
        return Err(SnapshotError::Length { expected, found });
    }
    if u32::from_le_bytes(checksum) != crc32fast::hash(body) {
        return Err(SnapshotError::Checksum);
    }
    match postcard::take_from_bytes(body) {
        Ok((decoded, [])) => Ok(decoded),
        Ok(_) => Err(SnapshotError::Inconsistent {
            what: "bytes left over".to_owned(),
        }),
        Err(error) => Err(inconsistent(&error)),
    }
}

fn split<const N: usize>(bytes: &[u8]) -> Result<([u8; N], &[u8]), SnapshotError> {
    let (first, rest) = bytes
        .split_first_chunk::<N>()
        .ok_or(SnapshotError::NotASnapshot)?;
    Ok((*first, rest))
}

fn inconsistent(error: &postcard::Error) -> SnapshotError {
    SnapshotError::Inconsistent {
        what: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body() -> (u64, Vec<Option<u32>>) {
        (7, vec![None, Some(u32::MAX), Some(3)])
    }

    fn read(bytes: &[u8]) -> Result<(u64, Vec<Option<u32>>), SnapshotError> {
        decode(bytes)
    }

    #[test]
    fn what_goes_in_comes_out() {
        assert_eq!(read(&encode(&body()).unwrap()), Ok(body()));
    }

    #[cfg(feature = "toml")]
    #[test]
    fn every_built_in_profile_survives() {
        // The firmware of one is of another crate, whose tests restore it.
        for name in Profile::builtin_names().filter(|name| *name != "deepflash") {
            let profile = Profile::builtin(name).unwrap();
            let device = Device::new(&profile).unwrap();
            let restored = Device::restore(&device.snapshot().unwrap()).unwrap();
            assert_eq!(restored.profile(), &profile);
        }
        let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
        profile.ftl.page_allocation = "PDWC".parse().unwrap();
        profile.timing.program_pages = Some(profile.timing.read.clone());
        profile.xpoint.dies = 3;
        let device = Device::new(&profile).unwrap();
        let restored = Device::restore(&device.snapshot().unwrap()).unwrap();
        assert_eq!(restored.profile(), &profile);
    }

    #[cfg(feature = "toml")]
    #[test]
    fn a_key_that_is_missing_has_its_default_and_an_unknown_one_is_refused() {
        let profile = Profile::builtin("optane-900p").unwrap();
        let text = serde_json::to_string(&profile).unwrap();
        let restore = |from: &str, to: &str| {
            assert!(text.contains(from), "{text}");
            let body = Body {
                profile: text.replacen(from, to, 1),
                namespaces: Vec::new(),
                sets: Vec::new(),
            };
            Device::restore(&encode(&body).unwrap())
        };
        let mut without = profile.clone();
        without.controller.latency = crate::profile::Controller::default().latency;
        let latency = format!(",\"latency\":\"{}\"", profile.controller.latency);
        let restored = restore(&latency, "").unwrap();
        assert_eq!(restored.profile(), &without);
        let error = restore("\"latency\"", "\"delay\"").unwrap_err();
        assert!(error.to_string().contains("delay"), "{error}");
    }

    /// Two pages of a wordline of three wait in the buffer for the third, which comes after the power cut.
    #[cfg(feature = "toml")]
    #[test]
    fn buffered_pages_keep_their_layout() {
        use crate::nvme::{Command, Directive, Pattern};
        let sequential = Directive::read_pattern(Pattern::Sequential);
        let run = |device: &mut Device, command: Command| {
            device.submit(&command).unwrap();
            while device.run_until_completion() {
                while device.pop_completion().is_some() {}
            }
        };
        let profile = Profile::builtin("melded-tlc-8x8").unwrap();
        let mut device = Device::new(&profile).unwrap();
        let nsid = device.create_namespace(1 << 20).unwrap();
        run(&mut device, Command::write(nsid, 0, 2, sequential, 0));
        let mut device = Device::restore(&device.snapshot().unwrap()).unwrap();
        run(&mut device, Command::write(nsid, 2, 1, sequential, 0));
        run(&mut device, Command::flush(nsid, 0));
        let layout = device.layout(nsid, 0, 3).unwrap();
        assert_eq!((layout.mapped, layout.melded), (3, 3));
    }

    /// Version 3 is that of release 0.1.0.
    #[test]
    fn an_older_version_is_refused_with_the_remedy() {
        let files: [(u32, &[u8]); 2] = [
            (3, include_bytes!("tests/data/version-3.snapshot")),
            (5, include_bytes!("tests/data/version-5.snapshot")),
        ];
        for (found, bytes) in files {
            let error = Device::restore(bytes).unwrap_err();
            assert_eq!(error, SnapshotError::Version { found });
            let said = error.to_string();
            let expected = [
                format!("version {found}, "),
                "make it anew with this version".to_owned(),
            ];
            assert!(expected.iter().all(|part| said.contains(part)), "{said}");
        }
    }

    #[test]
    fn each_damage_is_told_apart() {
        let good = encode(&body()).unwrap();
        let changed = |at: usize| {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            read(&bytes)
        };
        assert_eq!(changed(0), Err(SnapshotError::NotASnapshot));
        let found = VERSION ^ 1;
        assert_eq!(changed(8), Err(SnapshotError::Version { found }));
        assert!(matches!(changed(12), Err(SnapshotError::Length { .. })));
        assert_eq!(changed(20), Err(SnapshotError::Checksum));
        for at in HEADER_BYTES..good.len() {
            assert_eq!(changed(at), Err(SnapshotError::Checksum));
        }
        for length in 0..good.len() {
            assert!(read(&good[..length]).is_err(), "cut to {length} bytes");
        }
        let longer = [good.as_slice(), &[0]].concat();
        assert!(matches!(read(&longer), Err(SnapshotError::Length { .. })));
        // A body of another type, whole and undamaged.
        let other = encode(&"text").unwrap();
        assert!(matches!(
            read(&other),
            Err(SnapshotError::Inconsistent { .. })
        ));
    }
}
