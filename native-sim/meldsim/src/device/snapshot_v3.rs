//! Profiles in snapshots of version 3, which release 0.1.0 wrote: without what has been added since.
//!
//! In comes a profile of then, out goes one of today, with the defaults of what was not there.

use serde::Deserialize;

use crate::engine::Duration;
use crate::policy::PolicyOptions;
use crate::policy::arbitration::ArbitrationPolicy;
use crate::policy::victim::VictimPolicy;
use crate::policy::wear::WearPolicy;
use crate::profile::{
    Allocation, Bus, ByteSize, Commands, Controller, DataRate, DieInterleave, Energy, EnergyAmount,
    Fdp, Firmware, FirmwareCore, FirmwareCost, FirmwareDesign, FirmwareThreads, Ftl, Gc, Geometry,
    Host, Issue, Kind, MeldedPartialRead, PageAllocation, PredictableLatency, Profile,
    ProgramOrder, SetLayout, Sets, Timing, Xpoint, Zones,
};

/// The body's format is that of the fields' order. Sections that have not changed are today's.
#[derive(Deserialize)]
#[cfg_attr(all(test, feature = "toml"), derive(serde::Serialize))]
pub(super) struct ProfileV3 {
    name: String,
    description: String,
    kind: Kind,
    geometry: Geometry,
    bus: Bus,
    timing: TimingV3,
    xpoint: Xpoint,
    commands: CommandsV3,
    energy: Energy,
    controller: ControllerV3,
    ftl: FtlV3,
    sets: SetsV3,
    gc: GcV3,
    host: HostV3,
    firmware: FirmwareV3,
    predictable_latency: PredictableLatency,
}

/// Declares a section as it was: its keys, in their order. Gives the struct, and today's section of it.
macro_rules! section_v3 {
    ($old:ident => $new:ident { $($key:ident: $type:ty,)* }) => {
        #[derive(Deserialize)]
        #[cfg_attr(all(test, feature = "toml"), derive(serde::Serialize))]
        struct $old {
            $($key: $type,)*
        }

        impl From<$old> for $new {
            fn from(old: $old) -> $new {
                $new { $($key: old.$key.into(),)* ..$new::default() }
            }
        }

        #[cfg(all(test, feature = "toml"))]
        impl From<$new> for $old {
            fn from(new: $new) -> $old {
                $old { $($key: new.$key.into(),)* }
            }
        }
    };
}

section_v3! {
    CommandsV3 => Commands {
        multi_plane: bool,
        die_interleave: DieInterleave,
        issue: Issue,
        cache_read: bool,
        cache_program: bool,
        copyback: bool,
        suspend_program: bool,
        suspend_erase: bool,
        suspend_time: Duration,
        resume_time: Duration,
        max_suspends: u32,
        suspend_progress: Duration,
    }
}

section_v3! {
    FtlV3 => Ftl {
        over_provisioning_percent: u32,
        allocation: Allocation,
        page_allocation: PageAllocation,
        program_order: ProgramOrder,
        melded_partial_read: MeldedPartialRead,
        open_runs: u32,
        mapping_memory: ByteSize,
    }
}

section_v3! {
    ControllerV3 => Controller {
        lba_size: ByteSize,
        write_buffer: ByteSize,
        write_cache: bool,
        latency: Duration,
        read_segment: ByteSize,
        halved_read_depth: u32,
        reads_before_program: u32,
    }
}

section_v3! {
    SetsV3 => Sets {
        layout: SetLayout,
        count: u32,
        channel_groups: u32,
    }
}

/// Policies as they were numbered.
macro_rules! policy_v3 {
    ($old:ident => $new:ty { $($variant:ident = $name:literal,)+ }) => {
        #[derive(Deserialize)]
        #[cfg_attr(all(test, feature = "toml"), derive(serde::Serialize))]
        enum $old {
            $($variant,)+
        }

        impl From<$old> for $new {
            fn from(old: $old) -> $new {
                match old {
                    $($old::$variant => <$new>::named($name),)+
                }
            }
        }

        #[cfg(all(test, feature = "toml"))]
        impl From<$new> for $old {
            fn from(new: $new) -> $old {
                let known = [$(($name, $old::$variant)),+];
                let mut known = known.into_iter();
                known.find(|(name, _)| *name == new.as_str()).expect("an old policy").1
            }
        }
    };
}

policy_v3! {
    ArbitrationV3 => ArbitrationPolicy {
        RoundRobin = "round-robin",
        WeightedRoundRobin = "weighted-round-robin",
    }
}

section_v3! {
    TimingV3 => Timing {
        read: Vec<Duration>,
        melded_read: Option<Duration>,
        program: Duration,
        program_pages: Option<Vec<Duration>>,
        erase: Duration,
    }
}

policy_v3! {
    VictimV3 => VictimPolicy {
        Greedy = "greedy",
        CostBenefit = "cost-benefit",
        WindowedGreedy = "windowed-greedy",
    }
}

policy_v3! {
    WearV3 => WearPolicy {
        None = "none",
        Dynamic = "dynamic",
        Static = "static",
    }
}

section_v3! {
    GcV3 => Gc {
        victim: VictimV3,
        window: u32,
        background: bool,
        background_idle: Duration,
        background_free_percent: u32,
        relayout: bool,
        wear_levelling: WearV3,
        wear_threshold: u32,
    }
}

section_v3! {
    HostV3 => Host {
        link_rate: DataRate,
        link_command_time: Duration,
        command_cost: Duration,
        commands_in_flight: u32,
        arbitration: ArbitrationV3,
        arbitration_burst: u32,
        high_weight: u32,
        medium_weight: u32,
        low_weight: u32,
    }
}

section_v3! {
    FirmwareV3 => Firmware {
        design: FirmwareDesign,
        cores: u32,
        dynamic_serialization: bool,
        lock_forwarding: bool,
        cache_bypass: bool,
        background_scheduling: bool,
        journal: bool,
        cache_pages: u32,
        threads: FirmwareThreads,
        cost: FirmwareCost,
        core: FirmwareCoreV3,
    }
}

section_v3! {
    FirmwareCoreV3 => FirmwareCore {
        speed_percent: u32,
        active_energy: EnergyAmount,
        idle_energy: EnergyAmount,
    }
}

impl From<ProfileV3> for Profile {
    fn from(old: ProfileV3) -> Profile {
        Profile {
            name: old.name,
            description: old.description,
            kind: old.kind,
            geometry: old.geometry,
            bus: old.bus,
            timing: old.timing.into(),
            xpoint: old.xpoint,
            commands: old.commands.into(),
            energy: old.energy,
            controller: old.controller.into(),
            ftl: old.ftl.into(),
            sets: old.sets.into(),
            gc: old.gc.into(),
            host: old.host.into(),
            firmware: old.firmware.into(),
            predictable_latency: old.predictable_latency,
            fdp: Fdp::default(),
            zones: Zones::default(),
            policy: PolicyOptions::default(),
        }
    }
}

#[cfg(all(test, feature = "toml"))]
mod tests {
    use super::super::snapshot::{Body, OLDEST, encode_as};
    use super::*;
    use crate::Device;

    /// As release 0.1.0 wrote it.
    fn old(profile: Profile) -> ProfileV3 {
        ProfileV3 {
            name: profile.name,
            description: profile.description,
            kind: profile.kind,
            geometry: profile.geometry,
            bus: profile.bus,
            timing: profile.timing.into(),
            xpoint: profile.xpoint,
            commands: profile.commands.into(),
            energy: profile.energy,
            controller: profile.controller.into(),
            ftl: profile.ftl.into(),
            sets: profile.sets.into(),
            gc: profile.gc.into(),
            host: profile.host.into(),
            firmware: profile.firmware.into(),
            predictable_latency: profile.predictable_latency,
        }
    }

    #[test]
    fn the_release_before_is_read_with_todays_defaults() {
        for name in Profile::builtin_names() {
            let mut profile = Profile::builtin(name).unwrap();
            // The others did not exist.
            profile.host.arbitration = ArbitrationPolicy::default();
            let body = Body {
                profile: old(profile.clone()),
                namespaces: vec![(0, 1 << 20)],
                sets: Device::new(&profile).unwrap().save_sets(),
            };
            let restored = Device::restore(&encode_as(OLDEST, &body).unwrap()).unwrap();
            assert_eq!(restored.namespaces().len(), 1);
            assert_eq!(restored.profile().geometry, profile.geometry);
            let gc = Gc {
                pacing: profile.gc.pacing,
                burst_size: profile.gc.burst_size,
                throttle_iops: profile.gc.throttle_iops,
                reads_yield: profile.gc.reads_yield,
                ..restored.profile().gc.clone()
            };
            assert_eq!(gc, profile.gc);
            let (was, now) = (restored.profile().firmware.clone(), &profile.firmware);
            let firmware = Firmware {
                cache_fill: now.cache_fill,
                binding: now.binding,
                transaction_percent: now.transaction_percent,
                core: FirmwareCore {
                    threads: now.core.threads,
                    issues: now.core.issues,
                    ..was.core
                },
                ..was
            };
            assert_eq!(firmware, profile.firmware);
        }
    }
}
