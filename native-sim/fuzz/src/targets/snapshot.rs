//! Snapshots: any bytes are refused with a reason, or are a device that works.

use arbitrary::{Arbitrary, Unstructured};
use meldsim::nvme::DsmByte;
use meldsim::profile::{Allocation, ProgramOrder};
use meldsim::{Command, Device, Directive, Duration, NamespaceId};

use super::exercise::{exercise, tiny_profile};

/// Of a snapshot before its body: magic, version, length and checksum of the body.
const HEADER_BYTES: usize = 24;
/// Of a body: about as many as its profile has.
const PROFILE_BYTES: usize = 200;
const STEPS: usize = 60;
const NAMESPACE_BYTES: u64 = 4 << 20;

/// What the bytes are taken for.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Form {
    /// A snapshot.
    Whole,
    /// A snapshot's body, to which a header that fits it is made.
    Body,
    /// What was done to a device before its snapshot was taken, then changes of the body.
    Changed(Kind),
}

/// Which device.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Kind {
    is_static: bool,
    is_shadow: bool,
    has_streams: bool,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Step {
    Write {
        slba: u16,
        nlb: u8,
        stream: u8,
        is_sequential: bool,
    },
    /// The same blocks again and again, until garbage is collected.
    Overwrite {
        slba: u16,
        times: u8,
    },
    Deallocate {
        slba: u16,
        nlb: u8,
    },
    Flush,
    Advance {
        us: u16,
    },
    Release {
        stream: u8,
    },
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Change {
    Set {
        at: u16,
        to: u8,
    },
    Flip {
        at: u16,
        bit: u8,
    },
    Insert {
        at: u16,
        byte: u8,
    },
    Remove {
        at: u16,
        bytes: u8,
    },
    /// The same, in the profile, which comes first.
    SetInProfile {
        at: u16,
        to: u8,
    },
}

/// Reads `data` as a snapshot, or as how to make one.
pub fn run(data: &[u8]) {
    meldsim_firmware::register();
    let mut input = Unstructured::new(data);
    let Ok(form) = input.arbitrary() else {
        return;
    };
    let snapshot = match form {
        Form::Whole => input.take_rest().to_vec(),
        Form::Body => with_header(input.take_rest()),
        Form::Changed(kind) => changed(kind, &mut input),
    };
    match Device::restore(&snapshot) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(device) => check(device),
    }
}

/// The device can be read, written and emptied, and its own snapshot is one.
fn check(mut device: Device) {
    let again = device.snapshot().and_then(|bytes| Device::restore(&bytes));
    assert!(again.is_ok(), "{again:?}");
    for namespace in device.namespaces().to_vec() {
        let (nsid, size_lbas) = (namespace.id, namespace.size_lbas);
        let nlb = size_lbas.min(1024) as u32;
        for command in [
            Command::read(nsid, 0, nlb, 0),
            Command::write(nsid, 0, nlb, Directive::NONE, 0),
            Command::deallocate(nsid, 0, u32::try_from(size_lbas).unwrap_or(u32::MAX), 0),
        ] {
            assert_eq!(device.submit(&command), Ok(()));
            while device.run_until_completion() {
                while device.pop_completion().is_some() {}
            }
            assert_eq!(device.outstanding(), 0, "{command:?} never completes");
        }
    }
    exercise(&mut device);
}

/// A snapshot as the input says, with the changes that follow in it.
fn changed(kind: Kind, input: &mut Unstructured<'_>) -> Vec<u8> {
    let device = used(kind, input).unwrap_or_else(|error| panic!("{error}"));
    let snapshot = device.snapshot().unwrap_or_else(|error| panic!("{error}"));
    let mut body = snapshot[HEADER_BYTES..].to_vec();
    while let (Ok(change), false) = (input.arbitrary(), input.is_empty()) {
        let of_rest = |at: u16, body: &[u8]| {
            let rest = PROFILE_BYTES.min(body.len());
            rest + usize::from(at) % (body.len() - rest).max(1)
        };
        match change {
            Change::Set { at, to } => {
                let at = of_rest(at, &body);
                body.get_mut(at).into_iter().for_each(|byte| *byte = to);
            }
            Change::Flip { at, bit } => {
                let at = of_rest(at, &body);
                body.get_mut(at)
                    .into_iter()
                    .for_each(|byte| *byte ^= 1 << (bit % 8));
            }
            Change::Insert { at, byte } => body.insert(of_rest(at, &body), byte),
            Change::Remove { at, bytes } => {
                let at = of_rest(at, &body).min(body.len());
                let end = (at + usize::from(bytes)).min(body.len());
                body.drain(at..end);
            }
            Change::SetInProfile { at, to } => {
                let at = usize::from(at) % PROFILE_BYTES;
                body.get_mut(at).into_iter().for_each(|byte| *byte = to);
            }
        }
    }
    with_header(&body)
}

/// A device that was used as the input says.
fn used(kind: Kind, input: &mut Unstructured<'_>) -> Result<Device, Box<dyn std::error::Error>> {
    let mut profile = tiny_profile();
    if kind.is_static {
        profile.ftl.allocation = Allocation::Static;
    }
    if kind.is_shadow {
        profile.ftl.program_order = ProgramOrder::Shadow;
        profile.timing.program_pages = Some(vec![Duration::from_us(500); 3]);
    }
    if kind.has_streams {
        profile.ftl.over_provisioning_percent = 60;
    }
    let mut device = Device::new(&profile)?;
    for _ in 0..2 {
        device.create_namespace(NAMESPACE_BYTES)?;
    }
    let steps = input.int_in_range(0..=STEPS)?;
    for _ in 0..steps {
        let Ok(step) = input.arbitrary() else {
            break;
        };
        take(&mut device, step)?;
        while device.pop_completion().is_some() {}
    }
    Ok(device)
}

fn take(device: &mut Device, step: Step) -> Result<(), meldsim::DeviceError> {
    let nsid = NamespaceId(1);
    let size_lbas = NAMESPACE_BYTES / device.profile().controller.lba_size.0;
    let slba = |slba: u16| u64::from(slba) % (size_lbas - 256);
    match step {
        Step::Write {
            slba: at,
            nlb,
            stream,
            is_sequential,
        } => {
            let stream = Directive::stream_of(u16::from(stream % 4));
            let write = Command::write(nsid, slba(at), u32::from(nlb) + 1, stream, 0);
            let dsm = DsmByte::new(DsmByte::AF_READ_MOSTLY, 0, is_sequential);
            device.submit(&write.with_dsm(dsm))
        }
        Step::Overwrite { slba: at, times } => (0..times).try_for_each(|_| {
            device.submit(&Command::write(nsid, slba(at), 64, Directive::NONE, 0))?;
            let until = device.now() + Duration::from_ms(1);
            device.advance_to(until);
            Ok(())
        }),
        Step::Deallocate { slba: at, nlb } => {
            device.submit(&Command::deallocate(nsid, slba(at), u32::from(nlb) + 1, 0))
        }
        Step::Flush => device.submit(&Command::flush(nsid, 0)),
        Step::Advance { us } => {
            let until = device.now() + Duration::from_us(us.into());
            device.advance_to(until);
            Ok(())
        }
        Step::Release { stream } => device.release_stream(nsid, u16::from(stream % 4) + 1),
    }
}

/// A snapshot with this body: no chance change of it would keep the checksum.
fn with_header(body: &[u8]) -> Vec<u8> {
    let template = Device::new(&tiny_profile())
        .ok()
        .and_then(|device| device.snapshot().ok());
    let template = template.unwrap_or_else(|| panic!("the tiny device has no snapshot"));
    let mut snapshot = template[..HEADER_BYTES].to_vec();
    snapshot[12..20].copy_from_slice(&(body.len() as u64).to_le_bytes());
    snapshot[20..24].copy_from_slice(&crc32fast::hash(body).to_le_bytes());
    snapshot.extend_from_slice(body);
    snapshot
}
