//! A drive left out: what rows of reads beside writes tell of it is taken from the other drives instead.
//!
//! Times of reads and programs, dies, spare flash and pacing stay the drive's own: rows of reads alone, or of writes alone, give them.

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
    profile.controller.reads_before_program =
        count(|profile| profile.controller.reads_before_program);
    // No limit is the highest one, and is written as the one below the lowest.
    let in_flight = count(|profile| profile.host.commands_in_flight.wrapping_sub(1));
    profile.host.commands_in_flight = in_flight.wrapping_add(1);
    let names = others.iter().map(|profile| profile.host.arbitration);
    let names: Vec<_> = names.collect();
    let votes = |name| names.iter().filter(|other| **other == name).count();
    if let Some(name) = names.iter().copied().max_by_key(|name| votes(*name)) {
        profile.host.arbitration = name;
    }
    Ok(profile)
}

/// The lower of the two in the middle where they are even. There are some.
fn median<T: Ord + Copy>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values[(values.len() - 1) / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::policy::arbitration::ArbitrationPolicy;

    #[test]
    fn a_drive_left_out_has_nothing_of_its_own_mechanism() {
        let mut own = Profile::builtin("pe8110").unwrap();
        let of_others = with_others(own.clone()).unwrap();
        own.commands.resume_time = Duration::from_us(7);
        own.commands.suspend_phase = Duration::from_us(7);
        own.host.commands_in_flight = 7;
        own.host.arbitration = ArbitrationPolicy::named("weighted-round-robin");
        assert_eq!(with_others(own).unwrap(), of_others);
        assert_eq!(of_others.name, "pe8110");
        // 90, 140, 190, 200, 200 and 220 us; 216, 414 and four without a limit; all but one by turns.
        assert_eq!(of_others.commands.suspend_phase, Duration::from_us(190));
        assert_eq!(of_others.host.commands_in_flight, 0);
        let by_turns = ArbitrationPolicy::named("round-robin");
        assert_eq!(of_others.host.arbitration, by_turns);
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
