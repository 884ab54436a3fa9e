//! Policies of another crate: registered, named in a profile, and asked.

use std::collections::BTreeMap;
use std::sync::Once;

use meldsim::policy::arbitration::{Arbitration, Priority};
use meldsim::policy::cells::{Cells, Place, Sensed};
use meldsim::policy::firmware::{Action, Fetched, Firmware, Outbox, Usage};
use meldsim::policy::pacing::{Bounds, Logs, Pacing, Standing};
use meldsim::policy::placement::{Frontier, Page, Placement};
use meldsim::policy::victim::{Candidate, Log, VictimPolicy, Victims, keep_least};
use meldsim::policy::wear::WearLevelling;
use meldsim::policy::{Policy, caught, fail, register};
use meldsim::profile::Setting;
use meldsim::{Command, Device, Directive, Duration, Instant, Profile, Status};

/// The one with most pages out of date, as they are told.
#[derive(Debug, Default)]
struct Told {
    invalid: BTreeMap<u32, u32>,
}

impl Victims for Told {
    fn rank(&self, superblocks: &mut Vec<Candidate>, most: usize, log: &Log) {
        keep_least(superblocks, most, |superblock| {
            let invalid = self.invalid.get(&superblock.number).copied().unwrap_or(0);
            let told = log.pages_per_superblock - invalid;
            assert!(
                superblock.valid <= told,
                "{superblock:?}: {invalid} were told"
            );
            (superblock.valid, superblock.closed_at, superblock.number)
        });
    }

    fn follows_invalidations(&self) -> bool {
        true
    }

    fn invalidated(&mut self, superblock: &Candidate, pages: u32) {
        *self.invalid.entry(superblock.number).or_default() += pages;
    }

    fn erased(&mut self, number: u32) {
        self.invalid.remove(&number);
    }
}

/// First in, first out, once more; or the last ones in first.
#[derive(Debug)]
struct Aged {
    youngest: u64,
}

impl Victims for Aged {
    fn rank(&self, superblocks: &mut Vec<Candidate>, most: usize, _: &Log) {
        keep_least(superblocks, most, |superblock| {
            let age = match self.youngest {
                0 => superblock.closed_at,
                _ => u64::MAX - superblock.closed_at,
            };
            (age, superblock.number)
        });
    }

    fn takes_empty_first(&self) -> bool {
        false
    }
}

/// The host programs what is freed, page by page.
#[derive(Debug)]
struct PageByPage {
    end: u64,
    most: u64,
}

impl Pacing for PageByPage {
    fn bounds(&self) -> Bounds {
        Bounds {
            begin: self.end,
            end: self.end,
        }
    }

    fn steady_room(&self) -> Option<u64> {
        Some(self.end)
    }

    fn most_credit(&self) -> u64 {
        self.most
    }

    fn earned(&mut self, _: &Standing, freed: u64) -> u64 {
        freed
    }
}

/// As `streams`, but asked for each page.
#[derive(Debug)]
struct Asked;

impl Placement for Asked {
    fn of_write(&mut self, _: Page, stream: u8) -> u8 {
        stream
    }

    fn of_move(&mut self, _: Page, _: Frontier) -> u8 {
        0
    }
}

/// As `dynamic`.
#[derive(Debug)]
struct LeastWorn;

impl WearLevelling for LeastWorn {
    fn order(&self, erases: u32) -> u32 {
        erases
    }
}

/// A wordline that was programmed takes as long again for each read before, and fails at the fourth.
#[derive(Debug, Default)]
struct ReadDisturb {
    reads: BTreeMap<(u32, u32), u32>,
}

impl Cells for ReadDisturb {
    fn programmed(&mut self, at: Place, _: Instant) {
        self.reads.insert((at.block, at.wordline), 0);
    }

    fn erased(&mut self, block: Place, _: Instant) {
        self.reads.retain(|&(number, _), _| number != block.block);
    }

    fn sense(&mut self, at: Place, page: Option<u8>, time: Duration, _: Instant) -> Sensed {
        assert_eq!(
            (at.plane, page),
            (0, Some(0)),
            "only a first page is read here"
        );
        let Some(before) = self.reads.get_mut(&(at.block, at.wordline)) else {
            return Sensed { time, fails: false };
        };
        *before += 1;
        Sensed {
            time: time * u64::from(*before),
            fails: *before == 4,
        }
    }
}

#[test]
fn cells_of_another_crate_take_longer_and_fail() {
    register::<dyn Cells>(Policy {
        name: "read-disturb",
        about: "each read makes the next slower",
        make: |_, _| Ok(Box::<ReadDisturb>::default()),
    });
    let settings = [
        "geometry.channels=1",
        "geometry.dies_per_channel=1",
        "timing.cells=read-disturb",
    ];
    let settings = settings.map(|it| it.parse().unwrap());
    let text = Profile::builtin_text("melded-tlc-8x8").unwrap();
    let profile = Profile::from_toml_with(text, &settings).unwrap();
    let mut device = Device::new(&profile).unwrap();
    let nsid = device.create_namespace(1 << 20).unwrap();
    let mut run = |command: Command| {
        device.submit(&command).unwrap();
        assert!(device.run_until_completion());
        let done = device.pop_completion().unwrap();
        (done.latency(), done.status)
    };
    run(Command::write(nsid, 0, 1, Directive::NONE, 0));
    run(Command::flush(nsid, 0));
    let mut reads = Vec::new();
    for _ in 0..5 {
        reads.push(run(Command::read(nsid, 0, 1, 0)));
    }
    let (once, sense) = (reads[0].0, profile.timing.read[0]);
    for (n, (time, status)) in (0..).zip(reads) {
        assert_eq!(time, once + sense * n, "read {n}");
        let failed = Status::UNRECOVERED_READ_ERROR;
        assert_eq!(status, if n == 3 { failed } else { Status::SUCCESS });
    }
}

fn amplification(text: &str) -> f64 {
    amplification_with(text, &[])
}

fn amplification_with(text: &str, settings: &[&str]) -> f64 {
    let text = format!("base = \"melded-tlc-8x8\"\nname = \"own\"\n{SMALL}[gc]\n{text}");
    let settings: Vec<Setting> = settings.iter().map(|it| it.parse().unwrap()).collect();
    let profile = Profile::from_toml_with(&text, &settings).unwrap();
    let (found, _) = crate::policies::simulated(&profile, 80);
    found
}

const SMALL: &str = "geometry = { channels = 1, dies_per_channel = 2, blocks_per_plane = 32, wordlines_per_block = 16 }\n\
    ftl = { over_provisioning_percent = 25 }\ncontroller = { write_buffer = \"1MiB\" }\n";

#[test]
fn a_policy_of_another_crate_is_run_as_those_that_are_shipped() {
    let aged = register::<dyn Victims>(Policy {
        name: "aged",
        about: "the one closed first, or last",
        make: |given, _| {
            let youngest = given.number("youngest", 0, 0..=1)?;
            Ok(Box::new(Aged { youngest }))
        },
    });
    assert!(VictimPolicy::all().contains(&aged));
    let own = amplification("victim = \"aged\"\n");
    assert_eq!(own, amplification("victim = \"fifo\"\n"));
    let young = amplification("victim = \"aged\"\n[policy.aged]\nyoungest = 1\n");
    assert!(young > own, "{young} {own}");

    for (gc, said) in [
        (
            "victim = \"agedd\"",
            "gc.victim: is \"agedd\", which is unknown; did you mean \"aged\"?",
        ),
        (
            "victim = \"oracle\"",
            "use one of greedy, cost-benefit, windowed-greedy, d-choices, fifo, random",
        ),
        (
            "victim = \"aged\"\n[policy.aged]\nyoungest = 2",
            "policy.aged.youngest: is 2; use 0 to 1",
        ),
        (
            "victim = \"aged\"\n[policy.aged]\noldest = 2",
            "policy.aged.oldest: is no option of aged; its options are: youngest",
        ),
        (
            "[policy.greedy]\nd = 2",
            "policy.greedy.d: is no option of greedy; it has none; remove this key",
        ),
        (
            "[policy.agedd]\nyoungest = 1",
            "policy.agedd: is no policy; did you mean \"aged\"?",
        ),
        (
            "[policy]\naged = 3",
            "policy.aged: is 3; make it a section: [policy.aged]",
        ),
        (
            "[policy.aged]\nyoungest = [1]",
            "policy.aged.youngest: is [1]; write a number",
        ),
    ] {
        let text = format!("base = \"melded-tlc-8x8\"\nname = \"own\"\n[gc]\n{gc}\n");
        let read = Profile::from_toml(&text).and_then(|profile| profile.validate());
        let error = read.unwrap_err().to_string();
        assert!(error.contains(said), "{gc}: {error}");
    }
}

#[test]
fn every_kind_of_policy_can_be_of_another_crate() {
    register::<dyn Pacing>(Policy {
        name: "page-by-page",
        about: "the host programs what is freed",
        make: |_, logs: &Logs| {
            let (end, most) = (logs.least + logs.superblock / 4, 4096 * logs.stripe);
            Ok(Box::new(PageByPage { end, most }))
        },
    });
    register::<dyn Placement>(Policy {
        name: "asked",
        about: "as streams",
        make: |_, _| Ok(Box::new(Asked)),
    });
    register::<dyn Victims>(Policy {
        name: "told",
        about: "greedy, that counts itself",
        make: |_, _| Ok(Box::<Told>::default()),
    });
    register::<dyn WearLevelling>(Policy {
        name: "least-worn",
        about: "as dynamic",
        make: |_, _| Ok(Box::new(LeastWorn)),
    });
    let credit = amplification("");
    let paced = amplification("pacing = \"page-by-page\"\n");
    assert!((paced / credit - 1.0).abs() < 0.03, "{paced} {credit}");
    assert_eq!(amplification_with("", &["ftl.placement=asked"]), credit);
    assert_eq!(amplification("victim = \"told\"\n"), credit);
    let dynamic = amplification("wear_levelling = \"dynamic\"\n");
    assert_eq!(amplification("wear_levelling = \"least-worn\"\n"), dynamic);
}

#[test]
#[should_panic(expected = "there are two policies named \"greedy\"")]
fn a_name_is_of_one_policy() {
    register::<dyn Victims>(Policy {
        name: "greedy",
        about: "",
        make: |_, _| Ok(Box::new(Aged { youngest: 0 })),
    });
}

#[test]
fn a_profile_says_its_options_back() {
    let text = "base = \"melded-tlc-8x8\"\nname = \"own\"\n[gc]\nvictim = \"d-choices\"\n[policy.d-choices]\nd = 3\n";
    let profile = Profile::from_toml(text).unwrap();
    assert_eq!(Profile::from_toml(&profile.to_toml()).unwrap(), profile);
    assert!(profile.to_toml().contains("[policy.d-choices]\nd = 3\n"));
}

/// Goes wrong in one way.
#[derive(Debug)]
struct Broken(u32);

impl Victims for Broken {
    fn rank(&self, superblocks: &mut Vec<Candidate>, _: usize, _: &Log) {
        match self.0 {
            0 => superblocks[0].number = 77,
            1 => superblocks.extend(superblocks.clone()),
            2 => fail("has had enough"),
            _ => panic!("of its own"),
        }
    }
}

impl Cells for Broken {
    fn sense(&mut self, _: Place, _: Option<u8>, time: Duration, _: Instant) -> Sensed {
        let time = time * 1_000_000;
        Sensed { time, fails: false }
    }
}

impl Arbitration for Broken {
    fn add_queue(&mut self, _: Priority) {}
    fn arrived(&mut self, _: u32) {}
    fn grant(&mut self) -> Option<u32> {
        Some(self.0)
    }
}

#[test]
fn a_fault_of_a_policy_names_it_and_the_call() {
    register::<dyn Victims>(Policy {
        name: "broken",
        about: "goes wrong",
        make: |given, _| Ok(Box::new(Broken(given.number("how", 0, 0..=3)?))),
    });
    register::<dyn Cells>(Policy {
        name: "slow",
        about: "takes long",
        make: |_, _| Ok(Box::new(Broken(0))),
    });
    register::<dyn Arbitration>(Policy {
        name: "elsewhere",
        about: "grants a queue that there is not",
        make: |_, _| Ok(Box::new(Broken(9))),
    });
    let fault = |settings: &[&str]| {
        let fault = caught(|| amplification_with("", settings)).unwrap_err();
        fault.to_string()
    };
    for (how, said) in [
        ("0", "rank names superblock 77, which was not given"),
        ("1", "which is named twice"),
        ("2", "rank has had enough"),
        ("3", "rank panicked: of its own"),
    ] {
        let how = format!("policy.broken.how={how}");
        let text = fault(&["gc.victim=broken", &how]);
        assert!(
            text.starts_with("gc.victim: policy \"broken\": rank "),
            "{text}"
        );
        assert!(text.contains(said), "{text}");
    }
    let slow = fault(&["timing.cells=slow"]);
    assert!(
        slow.starts_with("timing.cells: policy \"slow\": sense takes "),
        "{slow}"
    );
    let elsewhere = fault(&["host.arbitration=elsewhere", "host.command_cost=1us"]);
    let expected =
        "host.arbitration: policy \"elsewhere\": grant names queue 9, which has no command";
    assert_eq!(elsewhere, expected);
}

/// Firmware that takes as long for each command, however many there are; or answers for one that it does not have.
#[derive(Debug)]
struct Fixed {
    time: Duration,
    is_wrong: bool,
}

impl Firmware for Fixed {
    fn accept(&mut self, command: Fetched, outbox: &mut Outbox) {
        outbox.wake(command.request, self.time);
    }

    fn step(&mut self, number: u32, outbox: &mut Outbox) {
        let number = number + u32::from(self.is_wrong);
        outbox.actions.push(Action::Start(number));
    }

    fn usage(&self, _: Instant) -> Usage {
        Usage {
            cores: 1,
            ..Usage::default()
        }
    }
}

fn with_fixed(options: &str) -> Device {
    static FIXED: Once = Once::new();
    FIXED.call_once(|| {
        register::<dyn Firmware>(Policy {
            name: "fixed",
            about: "takes `us` for each command",
            make: |given, _| {
                let time = Duration::from_us(given.number("us", 3, 0..=100)?);
                let is_wrong = given.number("wrong", 0, 0..=1)? == 1;
                Ok(Box::new(Fixed { time, is_wrong }))
            },
        });
    });
    let text = format!("base = \"melded-tlc-8x8\"\nname = \"own\"\n{options}");
    Device::new(&Profile::from_toml(&text).unwrap()).unwrap()
}

#[test]
fn firmware_of_another_crate_stands_before_the_medium() {
    let read = |options| {
        let mut device = with_fixed(options);
        let nsid = device.create_namespace(1 << 20).unwrap();
        device.preload(nsid, 0, 8, Directive::NONE).unwrap();
        device.submit(&Command::read(nsid, 0, 1, 0)).unwrap();
        assert!(device.run_until_completion());
        let done = device.pop_completion().unwrap();
        (done.latency(), device.stats().firmware_cores)
    };
    let (plain, none) = read("");
    assert_eq!(none, 0);
    let fixed = "[firmware]\ndesign = \"fixed\"\n";
    assert_eq!(read(fixed), (plain + Duration::from_us(3), 1));
    let slow = format!("{fixed}[policy.fixed]\nus = 70\n");
    assert_eq!(read(&slow), (plain + Duration::from_us(70), 1));
}

#[test]
fn firmware_that_answers_for_no_command_is_named() {
    let mut device = with_fixed("[firmware]\ndesign = \"fixed\"\n[policy.fixed]\nwrong = 1\n");
    let nsid = device.create_namespace(1 << 20).unwrap();
    device.submit(&Command::read(nsid, 0, 1, 0)).unwrap();
    let fault = caught(|| device.run_until_completion()).unwrap_err();
    let expected = "firmware.design: policy \"fixed\": outbox answers Start(1), but no such command waits for it";
    assert_eq!(fault.to_string(), expected);
}
