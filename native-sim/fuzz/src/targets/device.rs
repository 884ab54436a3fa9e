//! The model's interface: any commands in any queues, with any hints, ranges, streams and windows, on
//! devices with and without limits. What is accepted completes once; what is refused has a text.

use std::collections::HashSet;

use arbitrary::{Arbitrary, Unstructured};
use meldsim::nvme::{DsmByte, DsmRange, PredictableLatencyConfig, Priority};
use meldsim::policy::arbitration::ArbitrationPolicy;
use meldsim::policy::placement::PlacementPolicy;
use meldsim::profile::{DataRate, Profile};
use meldsim::{
    Command, Device, DeviceError, Directive, Duration, NamespaceId, Opcode, Pattern, QueueId,
};

use super::exercise::tiny_profile;

const STEPS: usize = 200;
const NAMESPACE_BYTES: u64 = 4 << 20;
const QUEUE_DEPTH: u32 = 5;

/// Which device.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Kind {
    is_xpoint: bool,
    commands_in_flight: u8,
    has_command_cost: bool,
    has_link: bool,
    is_weighted: bool,
    arbitration_burst: u8,
    has_streams: bool,
    alternates: bool,
    firmware: u8,
}

impl Kind {
    fn profile(self) -> Profile {
        let mut profile = match self.is_xpoint {
            true => Profile::builtin("optane-900p").unwrap_or_else(|error| panic!("{error}")),
            false => tiny_profile(),
        };
        profile.host.commands_in_flight = u32::from(self.commands_in_flight % 4);
        if self.has_command_cost {
            profile.host.command_cost = Duration::from_ns(700);
        }
        if self.has_link {
            profile.host.link_rate = DataRate(2_000_000_000);
        }
        if self.is_weighted {
            profile.host.arbitration = ArbitrationPolicy::named("weighted-round-robin");
        }
        profile.host.arbitration_burst = [0, 1, 2, 4][usize::from(self.arbitration_burst) % 4];
        if self.is_xpoint {
            return profile;
        }
        if self.has_streams {
            profile.ftl.over_provisioning_percent = 60;
            // Also of handles in their place, isolated at first or to the end.
            let isolation = ["streams", "isolated"][usize::from(self.firmware >> 3) % 2];
            profile.ftl.placement = PlacementPolicy::named(isolation);
            profile.fdp.handles = [0, 1, 2, 2][usize::from(self.commands_in_flight >> 2) % 4];
        }
        profile.predictable_latency.alternate = self.alternates;
        let designs = meldsim_firmware::register();
        profile.firmware.design = match self.firmware % 8 {
            0 => designs.naive,
            1 => designs.many_layered,
            2 => designs.pipeline,
            _ => profile.firmware.design,
        };
        profile
    }
}

/// A logical block or a count of them: mostly of the namespace, sometimes anything.
#[derive(Clone, Copy, Debug)]
struct Blocks(u64);

impl<'a> Arbitrary<'a> for Blocks {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Blocks> {
        let blocks = u64::from(u.arbitrary::<u16>()?);
        Ok(Blocks(match blocks >> 12 {
            0..=7 => blocks & 0x3F,
            8..=14 => blocks & 0x3FF,
            _ => u64::MAX >> (blocks & 63),
        }))
    }
}

impl Blocks {
    fn count(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Hint {
    None,
    Pattern(u8),
    Stream(u8),
    Any(u8, u16),
}

impl Hint {
    fn pattern(number: u8) -> Pattern {
        [Pattern::None, Pattern::Sequential, Pattern::Random][usize::from(number) % 3]
    }

    fn directive(self) -> Directive {
        match self {
            Hint::None => Directive::NONE,
            Hint::Pattern(number) => Directive::read_pattern(Hint::pattern(number)),
            Hint::Stream(handle @ 128..) => Directive::placement(u16::from(handle % 20)),
            Hint::Stream(stream) => Directive::stream_of(u16::from(stream % 20)),
            Hint::Any(dtype, dspec) => Directive { dtype, dspec },
        }
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Step {
    Submit {
        queue: u8,
        opcode: u8,
        nsid: u8,
        slba: Blocks,
        nlb: Blocks,
        hint: Hint,
        dsm: u8,
    },
    Deallocate {
        queue: u8,
        nsid: u8,
        ranges: [(Blocks, Blocks); 3],
        count: u8,
    },
    Describe {
        nsid: u8,
        slba: Blocks,
        length: Blocks,
        attributes: u32,
    },
    BindStream {
        nsid: u8,
        stream: u8,
        pattern: u8,
    },
    ReleaseStream {
        nsid: u8,
        stream: u8,
    },
    CreateQueue {
        depth: u8,
        priority: u8,
    },
    Arbitrate {
        burst: u8,
        weights: [u8; 3],
    },
    ConfigureWindows {
        set: u8,
        enable: bool,
        thresholds: [u8; 3],
    },
    EnterWindow {
        set: u8,
        deterministic: bool,
    },
    Look {
        nsid: u8,
        slba: Blocks,
        nlb: Blocks,
    },
    Advance {
        us: u16,
    },
    Complete,
}

/// A device, and the tags of the commands on it.
struct Host {
    device: Device,
    queues: u16,
    outstanding: HashSet<u64>,
    next_tag: u64,
}

/// Reads `data` as a device and the steps of its host, and makes them.
pub fn run(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let Ok(kind) = input.arbitrary::<Kind>() else {
        return;
    };
    let mut host = Host::new(&kind.profile());
    for _ in 0..STEPS {
        match input.arbitrary() {
            Ok(step) if !input.is_empty() => host.make(step),
            _ => break,
        }
    }
    while host.device.run_until_completion() {
        host.pop_all();
    }
    assert!(host.outstanding.is_empty(), "{:?}", host.outstanding);
    assert_eq!(host.device.outstanding(), 0);
    let stats = host.device.stats();
    assert!(stats.mapped_pages <= stats.capacity_pages);
}

impl Host {
    fn new(profile: &Profile) -> Host {
        let mut device = Device::new(profile).unwrap_or_else(|error| panic!("{error}"));
        for _ in 0..2 {
            let created = device.create_namespace(NAMESPACE_BYTES);
            assert!(created.is_ok(), "{created:?}");
        }
        let mut host = Host {
            device,
            queues: 1,
            outstanding: HashSet::new(),
            next_tag: 0,
        };
        for priority in [Priority::Urgent, Priority::Low] {
            host.create_queue(QUEUE_DEPTH, priority);
        }
        host
    }

    fn create_queue(&mut self, depth: u32, priority: Priority) {
        match self.device.create_queue(depth, priority) {
            Ok(queue) => {
                assert_eq!(queue, QueueId(self.queues));
                self.queues += 1;
            }
            Err(error) => assert_eq!(error, DeviceError::QueueDepth),
        }
    }

    fn make(&mut self, step: Step) {
        let (tag, nsid) = (self.next_tag, |nsid: u8| NamespaceId(u32::from(nsid % 4)));
        let device = &mut self.device;
        match step {
            Step::Submit {
                queue,
                opcode,
                nsid: of,
                slba,
                nlb,
                hint,
                dsm,
            } => {
                let opcodes = [
                    Opcode::Write,
                    Opcode::Read,
                    Opcode::Deallocate,
                    Opcode::Flush,
                ];
                let command = Command {
                    opcode: opcodes[usize::from(opcode) % opcodes.len()],
                    nsid: nsid(of),
                    slba: slba.0,
                    nlb: nlb.count(),
                    directive: hint.directive(),
                    dsm: DsmByte(dsm),
                    zone_action: None,
                    select_all: false,
                    tag,
                };
                let queue = QueueId(u16::from(queue % 5));
                let submitted = device.submit_to(queue, &command);
                self.submitted(submitted);
            }
            Step::Deallocate {
                queue,
                nsid: of,
                ranges,
                count,
            } => {
                let ranges = ranges.map(|(slba, nlb)| (slba.0, nlb.count()));
                let ranges = &ranges[..usize::from(count) % 4];
                let queue = QueueId(u16::from(queue % 5));
                let submitted = device.deallocate(queue, nsid(of), ranges, tag);
                self.submitted(submitted);
            }
            Step::Describe {
                nsid: of,
                slba,
                length,
                attributes,
            } => {
                let range = DsmRange {
                    attributes,
                    length: length.count(),
                    slba: slba.0,
                };
                check(&device.describe(nsid(of), &range));
            }
            Step::BindStream {
                nsid: of,
                stream,
                pattern,
            } => {
                let stream = u16::from(stream % 20);
                check(&device.bind_stream(nsid(of), stream, Hint::pattern(pattern)));
            }
            Step::ReleaseStream { nsid: of, stream } => {
                let number = u16::from(stream % 20);
                check(&device.release_stream(nsid(of), number));
                check(&device.update_handle(nsid(of), number));
                check(&device.handle_status(nsid(of)));
                check(&device.fdp_statistics(u32::from(stream) % 2));
                check(&device.fdp_events(0, stream % 2 == 0));
            }
            Step::CreateQueue { depth, priority } => {
                let priorities = [
                    Priority::Urgent,
                    Priority::High,
                    Priority::Medium,
                    Priority::Low,
                ];
                let priority = priorities[usize::from(priority) % priorities.len()];
                self.create_queue(u32::from(depth), priority);
            }
            Step::Arbitrate { burst, weights } => {
                device.set_arbitration(burst.into(), weights.map(u32::from));
                let (burst_now, weights_now) = device.arbitration();
                assert_eq!(burst_now, u32::from(burst));
                assert_eq!(weights_now, weights.map(|weight| u32::from(weight.max(1))));
            }
            Step::ConfigureWindows {
                set,
                enable,
                thresholds: [reads, writes, ms],
            } => {
                let config = PredictableLatencyConfig {
                    enable_event: u16::MAX,
                    reads_threshold: reads.into(),
                    writes_threshold: writes.into(),
                    time_threshold_ms: ms.into(),
                };
                let set = u32::from(set % 2);
                if device.configure_windows(set, enable, config).is_ok() {
                    assert_eq!(device.window(set).map(|(_, told)| told), Ok(config));
                }
            }
            Step::EnterWindow { set, deterministic } => {
                let set = u32::from(set % 2);
                check(&device.enter_window(set, deterministic));
                check(&device.latency_log(set, deterministic));
            }
            Step::Look {
                nsid: of,
                slba,
                nlb,
            } => {
                check(&device.locate(nsid(of), slba.0));
                match device.layout(nsid(of), slba.0, nlb.0) {
                    Ok(layout) => assert!(layout.buffered + layout.melded <= layout.mapped),
                    Err(error) => assert!(!error.to_string().is_empty()),
                }
            }
            Step::Advance { us } => {
                let until = device.now() + Duration::from_us(us.into());
                device.advance_to(until);
                self.pop_all();
            }
            Step::Complete => {
                device.run_until_completion();
                self.pop_all();
            }
        }
        assert!(self.device.queued(QueueId(1)) <= QUEUE_DEPTH as usize);
    }

    fn submitted(&mut self, submitted: Result<(), DeviceError>) {
        match submitted {
            Ok(()) => {
                self.outstanding.insert(self.next_tag);
                self.next_tag += 1;
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }

    /// Takes the completions, each of which must be of a command on the device.
    fn pop_all(&mut self) {
        while let Some(completion) = self.device.pop_completion() {
            assert!(
                self.outstanding.remove(&completion.tag),
                "nobody waits for {completion:?}"
            );
            assert!(completion.submitted <= completion.completed);
            assert!(completion.completed <= self.device.now());
        }
        assert_eq!(self.device.outstanding(), self.outstanding.len());
    }
}

/// What is refused has a text.
fn check<T>(result: &Result<T, DeviceError>) {
    if let Err(error) = result {
        assert!(!error.to_string().is_empty());
    }
}
