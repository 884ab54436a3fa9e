//! meldsim with a victim policy of one's own: `own-policy run --set gc.victim=patient --set policy.patient.age=2`.

use std::process::ExitCode;

use meldsim::policy::victim::{Log, Candidate, Victims, fewest_valid, keep_least};
use meldsim::policy::{Policy, register};

/// Greedy, but a superblock that was closed a short while ago has to wait: its pages may soon be overwritten.
#[derive(Debug)]
struct Patient {
    /// In superblocks that the log has filled since.
    age: u64,
}

impl Victims for Patient {
    fn rank(&self, superblocks: &mut Vec<Candidate>, most: usize, log: &Log) {
        let young = self.age * u64::from(log.pages_per_superblock);
        keep_least(superblocks, most, |superblock| {
            (log.now - superblock.closed_at < young, fewest_valid(superblock))
        });
    }
}

fn main() -> ExitCode {
    register::<dyn Victims>(Policy {
        name: "patient",
        about: "greedy among the superblocks that `age` others have been filled since",
        make: |given, _| {
            let age = given.number("age", 24, 0..=1 << 20)?;
            Ok(Box::new(Patient { age }))
        },
    });
    meldsim_cli::main()
}
