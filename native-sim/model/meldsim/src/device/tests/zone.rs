//! A medium of zones, as small as one can be: it takes writes in order only, and each takes the same time. It is here to show
//! what a medium has to be, and that the device asks nothing else of it.

use crate::Device;
use crate::device::Stats;
use crate::device::inspect::{Location, Utilisation};
use crate::device::media::AnyMedium;
use crate::device::medium::{Medium, Past, Report, Windowed};
use crate::device::request::{Outcome, PageRange, Requests};
use crate::device::sets::SetInfo;
use crate::engine::{Duration, EventQueue, Instant};
use crate::event::Event;
use crate::nvme::{Command, Directive, Opcode, Status};
use crate::profile::{Profile, ProfileError};

const PAGE_BYTES: u64 = 4096;
const ZONE_PAGES: u64 = 16;

#[derive(Debug)]
pub(in crate::device) struct Zones {
    /// Of each zone, the next page to be written.
    pointers: Vec<u64>,
}

impl Medium for Zones {
    fn new(_: &Profile) -> Result<Zones, ProfileError> {
        Ok(Zones {
            pointers: Vec::new(),
        })
    }

    fn page_bytes(&self) -> u64 {
        PAGE_BYTES
    }

    fn stripe_bytes(&self) -> u64 {
        PAGE_BYTES
    }

    fn max_namespace_bytes(&self) -> u64 {
        1 << 30
    }

    fn add_space(&mut self, _set: u32, size_bytes: u64) -> u32 {
        let zones = size_bytes / PAGE_BYTES / ZONE_PAGES;
        self.pointers = (0..zones).map(|zone| zone * ZONE_PAGES).collect();
        0
    }

    fn begin(&mut self, _: &mut EventQueue<Event>, requests: &mut Requests, id: u32) {
        let request = &mut requests[id];
        request.parts += 1;
        if request.opcode == Opcode::Write {
            let zone = request.range.first / ZONE_PAGES;
            let end = (zone + 1) * ZONE_PAGES;
            let pointer = &mut self.pointers[zone as usize];
            if request.range.first == *pointer && request.range.end <= end {
                *pointer = request.range.end;
                request.result = *pointer;
            } else {
                request.status = Status::ZONE_INVALID_WRITE;
            }
        }
        requests.outcomes.push(Outcome::Taken { request: id });
    }

    fn process(&mut self, _: &mut EventQueue<Event>, _: &mut Requests, _: Event) {}
}

impl Past for Zones {}

impl Windowed for Zones {}

impl Report for Zones {
    fn random_read_typical(&self, profile: &Profile) -> Duration {
        profile.controller.latency
    }

    fn set_info(&self, _set: u32) -> Option<SetInfo> {
        None
    }

    fn programmed(&self, _set: u32) -> (u64, u64) {
        (0, 0)
    }

    fn mapped_pages(&self, _set: u32, _space: u32) -> (u64, u64) {
        let written = (0..).step_by(ZONE_PAGES as usize).zip(&self.pointers);
        (written.map(|(start, pointer)| pointer - start).sum(), 0)
    }

    fn memory(&self) -> u64 {
        8 * self.pointers.len() as u64
    }

    fn stats(&self, _: Instant, counted: Stats) -> Stats {
        counted
    }

    fn utilisation(&self, _: Instant) -> Utilisation {
        Utilisation::default()
    }

    fn locate(&self, _: PageRange) -> Location {
        Location::Unmapped
    }
}

#[test]
fn writes_out_of_order_are_refused_with_the_status_of_nvme() {
    let profile = Profile::builtin("melded-tlc-8x8").expect("a profile");
    let zones = Zones::new(&profile).expect("zones");
    let mut device = Device::with(&profile, AnyMedium::Zones(zones)).expect("a device");
    let nsid = device.create_namespace(1 << 20).expect("a namespace");
    let page_lbas = PAGE_BYTES / profile.controller.lba_size.0;
    let mut write = |page: u64, pages: u64| {
        let (slba, nlb) = (page * page_lbas, (pages * page_lbas) as u32);
        let write = Command::write(nsid, slba, nlb, Directive::NONE, page);
        device.submit(&write).expect("a good command");
        assert!(device.run_until_completion());
        let done = device.pop_completion().expect("it is done");
        assert_eq!(done.latency(), profile.controller.latency);
        (done.status, done.result)
    };
    assert_eq!(write(0, 2), (Status::SUCCESS, 2));
    // Behind the pointer, before it, and over the zone's end.
    for (page, pages) in [(3, 1), (0, 1), (2, 16)] {
        assert_eq!(write(page, pages), (Status::ZONE_INVALID_WRITE, 0));
    }
    assert_eq!(write(2, 14), (Status::SUCCESS, 16));
    assert_eq!(write(16, 1), (Status::SUCCESS, 17));
    assert_eq!(device.stats().failed_commands, 3);
    assert_eq!(device.stats().write_commands, 6);
    assert_eq!(device.allocated_lbas(nsid), 17 * page_lbas);
    let timeline = device.set_timeline(None);
    assert!(timeline.is_err(), "it has no timeline");
}
