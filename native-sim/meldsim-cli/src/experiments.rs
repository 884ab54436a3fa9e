//! Every experiment, by paper: the lab's, and those of HDFS, each before the one of the lab that it is listed with.

use std::sync::LazyLock;

use meldsim_hdfs::{END_TO_END, HDFS_LIFETIMES};
use meldsim_lab::Experiment;

pub(crate) static EXPERIMENTS: LazyLock<Vec<&'static Experiment>> = LazyLock::new(|| {
    let mut all: Vec<&Experiment> = meldsim_lab::EXPERIMENTS.iter().collect();
    for (experiment, before) in [
        (&END_TO_END, "ftl-policies"),
        (&HDFS_LIFETIMES, "real-drives"),
    ] {
        let at = all.iter().position(|other| other.name == before);
        all.insert(at.unwrap_or(all.len()), experiment);
    }
    all
});

/// The experiment of that name.
pub(crate) fn find(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS
        .iter()
        .copied()
        .find(|experiment| experiment.name == name)
}
