//! Several devices in one process: a host that stripes its data over two SSDs.
//!
//! ```text
//!                chunk 0, 2, 4 … --> device 0: 8 channels x 8 dies -+
//!   host read --<                                                   +--> done when both are
//!                chunk 1, 3, 5 … --> device 1: 16 channels x 4 dies +
//! ```
//!
//! Nothing is global: a device is a value with a clock of its own. The host here keeps the clocks together by always
//! moving the device whose next event is the earliest. Run it: `cargo run --release --example two_devices`.

use std::error::Error;

use meldsim::{Command, Device, Directive, Duration, Instant, NamespaceId, Pattern, Profile};

const CHUNK_BYTES: u64 = 1 << 20;

/// One member of the stripe.
struct Member {
    device: Device,
    nsid: NamespaceId,
    lba_bytes: u64,
}

impl Member {
    /// A device with `bytes` of data on it, laid out for reads of `pattern`.
    fn new(profile: &str, bytes: u64, pattern: Pattern) -> Result<Member, Box<dyn Error>> {
        let profile = Profile::builtin(profile)?;
        let lba_bytes = profile.controller.lba_size.0;
        let mut device = Device::new(&profile)?;
        let nsid = device.create_namespace(bytes)?;
        device.preload(nsid, 0, bytes / lba_bytes, Directive::read_pattern(pattern))?;
        Ok(Member {
            device,
            nsid,
            lba_bytes,
        })
    }

    fn read(&mut self, offset: u64, bytes: u64, tag: u64) -> Result<(), Box<dyn Error>> {
        let (slba, nlb) = (offset / self.lba_bytes, (bytes / self.lba_bytes) as u32);
        Ok(self
            .device
            .submit(&Command::read(self.nsid, slba, nlb, tag))?)
    }
}

/// Reads `bytes` from the start of the stripe, all at once; when the last chunk has arrived.
fn read_striped(members: &mut [Member], bytes: u64) -> Result<Duration, Box<dyn Error>> {
    let count = members.len() as u64;
    for chunk in 0..bytes / CHUNK_BYTES {
        let member = &mut members[(chunk % count) as usize];
        member.read(chunk / count * CHUNK_BYTES, CHUNK_BYTES, chunk)?;
    }
    let mut last = Instant::START;
    // The earliest event of all: no device's clock ever passes another's next event.
    while let Some((next, member)) = members
        .iter_mut()
        .filter_map(|member| Some((member.device.next_event()?, member)))
        .min_by_key(|(next, _)| *next)
    {
        member.device.advance_to(next);
        while let Some(completion) = member.device.pop_completion() {
            last = last.max(completion.completed);
        }
    }
    Ok(last.since_start())
}

/// The latencies of striped reads as a table.
pub(crate) fn table(pattern: Pattern) -> Result<String, Box<dyn Error>> {
    let mut text = String::from("  read   one device   both devices   (simulated)\n");
    for mib in [2, 8, 32] {
        let bytes = mib << 20;
        let mut one = [Member::new("melded-tlc-8x8", bytes, pattern)?];
        let mut both = [
            Member::new("melded-tlc-8x8", bytes / 2, pattern)?,
            Member::new("melded-tlc-16x4", bytes / 2, pattern)?,
        ];
        let alone = read_striped(&mut one, bytes)?;
        let striped = read_striped(&mut both, bytes)?;
        text += &format!(
            "{mib:>2} MiB   {:>7} us     {:>7} us\n",
            alone.as_us(),
            striped.as_us()
        );
    }
    Ok(text)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    for (name, pattern) in [("normal", Pattern::None), ("melded", Pattern::Sequential)] {
        print!("{name} layout\n{}", table(pattern)?);
    }
    Ok(())
}
