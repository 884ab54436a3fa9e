//! A drive left out: what rows of reads beside writes tell of it, and how it paces collection, is taken from the other drives
//! instead.
//!
//! Times of reads and programs, dies and spare flash stay the drive's own: rows of reads with few writes, or of writes alone, give them.

use std::collections::BTreeSet;

use meldsim::Duration;
use meldsim::profile::{Profile, ProfileErrors};

/// The profiles that were fitted to rows of reads beside writes, each hardware once.
const MECHANISMS: [&str; 7] = [
    "7450-pro", "p5520", "pe8110", "pm9a3", "cm7-r", "wd-960", "zn540",
];
/// Two drives of one hardware: the profile, and the one of them that has the rows.
const SAME_HARDWARE: (&str, &str) = ("7450-max", "7450-pro");

/// The profile of a drive with the others' mechanism: of each key the median of them, the lower one of two, or the name that most have.
pub(super) fn with_others(mut profile: Profile) -> Result<Profile, ProfileErrors> {
    let name = match profile.name.as_str() {
        name if name == SAME_HARDWARE.0 => SAME_HARDWARE.1,
        name => name,
    };
    let others = MECHANISMS.into_iter().filter(|other| *other != name);
    let others: Vec<Profile> = others.map(Profile::builtin).collect::<Result<_, _>>()?;
    let time = |of: fn(&Profile) -> Duration| median(others.iter().map(of).collect());
    let count = |of: fn(&Profile) -> u32| median(others.iter().map(of).collect());

    let commands = &mut profile.commands;
    commands.suspend_phase = time(|profile| profile.commands.suspend_phase);
    commands.suspend_time = time(|profile| profile.commands.suspend_time);
    commands.resume_time = time(|profile| profile.commands.resume_time);
    commands.suspend_under_pressure = most(
        others
            .iter()
            .map(|other| other.commands.suspend_under_pressure),
    );
    profile.controller.reads_before_program =
        count(|profile| profile.controller.reads_before_program);
    // No limit is the highest one, and is written as the one below the lowest.
    let in_flight = count(|profile| profile.host.commands_in_flight.wrapping_sub(1));
    profile.host.commands_in_flight = in_flight.wrapping_add(1);
    profile.host.arbitration = most(others.iter().map(|profile| profile.host.arbitration));
    pace_as(&mut profile, &others);
    Ok(profile)
}

/// Collection is paced as by most of the others. Its options are the medians of theirs.
fn pace_as(profile: &mut Profile, others: &[Profile]) {
    profile.policy.remove(profile.gc.pacing.as_str());
    let policy = most(others.iter().map(|profile| profile.gc.pacing));
    let alike: Vec<&Profile> = others
        .iter()
        .filter(|profile| profile.gc.pacing == policy)
        .collect();
    profile.gc.pacing = policy;
    profile.gc.burst_size = median(alike.iter().map(|other| other.gc.burst_size).collect());
    profile.gc.throttle_iops = median(alike.iter().map(|other| other.gc.throttle_iops).collect());
    let options = alike
        .iter()
        .filter_map(|other| other.policy.of(policy.as_str()));
    let names: BTreeSet<&String> = options.clone().flat_map(|all| all.keys()).collect();
    for name in names {
        let values = options.clone().filter_map(|all| all.get(name));
        // Numbers in their order; of false and true the lower is false.
        let values = values.map(|value| (value.to_string().parse::<u64>().ok(), value.to_string()));
        let (_, value) = median(values.collect());
        profile.policy.set(policy.as_str(), name, value);
    }
}

/// What most name, the last where others are named as often. There is one.
fn most<T: PartialEq + Copy>(names: impl Iterator<Item = T>) -> T {
    let names: Vec<T> = names.collect();
    let votes = |name: &T| names.iter().filter(|other| *other == name).count();
    let mut by_votes = names.clone();
    by_votes.sort_by_key(votes);
    by_votes[by_votes.len() - 1]
}

/// The lower of the two in the middle where they are even. There are some.
fn median<T: Ord>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values.swap_remove((values.len() - 1) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::policy::PolicyOptions;
    use meldsim::policy::arbitration::ArbitrationPolicy;
    use meldsim::policy::pacing::PacingPolicy;
    use meldsim::profile::{ByteSize, Gc};

    #[test]
    fn a_drive_left_out_has_nothing_of_its_own_mechanism() {
        let mut own = Profile::builtin("pe8110").unwrap();
        let of_others = with_others(own.clone()).unwrap();
        own.commands.resume_time = Duration::from_us(7);
        own.commands.suspend_phase = Duration::from_us(7);
        own.commands.suspend_under_pressure = false;
        own.host.commands_in_flight = 7;
        own.host.arbitration = ArbitrationPolicy::named("weighted-round-robin");
        own.gc.pacing = PacingPolicy::named("burst");
        own.gc.burst_size = ByteSize(7 << 20);
        own.gc.throttle_iops = 7;
        own.policy.set("burst", "percent", 7);
        assert_eq!(with_others(own).unwrap(), of_others);
        assert_eq!(of_others.name, "pe8110");
        // 90, 140, 190, 200, 200 and 220 us; 248, 414 and four without a limit; all but one by turns.
        assert_eq!(of_others.commands.suspend_phase, Duration::from_us(190));
        assert_eq!(of_others.host.commands_in_flight, 0);
        let by_turns = ArbitrationPolicy::named("round-robin");
        assert_eq!(of_others.host.arbitration, by_turns);
    }

    #[test]
    fn a_drive_that_collects_in_bursts_is_predicted_to_take_turns() {
        for name in ["7450-max", "7450-pro", "cm7-r", "pm9a3"] {
            let of_others = with_others(Profile::builtin(name).unwrap()).unwrap();
            assert_eq!(of_others.gc.pacing, PacingPolicy::named("credit"), "{name}");
            assert_eq!(of_others.gc.burst_size, Gc::default().burst_size);
            assert_eq!(of_others.policy.of("burst"), None, "{name}");
        }
    }

    #[test]
    fn options_of_a_policy_are_the_medians_of_those_that_name_it() {
        let others = ["7450-pro", "cm7-r", "p5520"].map(|name| Profile::builtin(name).unwrap());
        let mut profile = Profile::builtin("pm9a3").unwrap();
        pace_as(&mut profile, &others);
        assert_eq!(profile.gc.pacing, PacingPolicy::named("burst"));
        // 8 and 48 MiB; 70,000 and the default; 96 and 220 by number, not by letter; each of the others by one.
        assert_eq!(profile.gc.burst_size, ByteSize(8 << 20));
        assert_eq!(profile.gc.throttle_iops, 70_000);
        let mut expected = PolicyOptions::default();
        expected.set("burst", "ahead", 96);
        expected.set("burst", "percent", 94);
        expected.set("burst", "throttled", true);
        assert_eq!(profile.policy, expected);
    }

    #[test]
    fn two_drives_of_one_hardware_are_left_out_together() {
        let [pro, max] = ["7450-pro", "7450-max"]
            .map(|name| with_others(Profile::builtin(name).unwrap()).unwrap());
        assert_eq!(pro.commands, max.commands);
        // 540 us is theirs; the others' are 5, 20, 40, 60, 100 and 200.
        assert_eq!(max.commands.resume_time, Duration::from_us(40));
    }
}
