//! One burst: a read that arrives at one instant on an idle device.

use thiserror::Error;

use super::claim::ChangeError;

use meldsim::Duration;
use meldsim::device::{Device, DeviceError};
use meldsim::nvme::{Command, Directive, Pattern};
use meldsim::profile::{Profile, ProfileErrors};
use meldsim::timeline::Timeline;
use meldsim_host::{LoadError, Source, directive};
use meldsim_measured::MeasureError;

/// How the data lies on the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Consecutive pages on different dies.
    Normal,
    /// Consecutive pages on one wordline, as far as it goes.
    Melded,
}

impl Layout {
    /// What a host says with a write to get the layout.
    pub const fn directive(self) -> Directive {
        directive(match self {
            Layout::Normal => Pattern::None,
            Layout::Melded => Pattern::Sequential,
        })
    }
}

/// What comes of an experiment, or why it cannot be run.
pub type Result<T, E = ExperimentError> = std::result::Result<T, E>;

/// Why an experiment cannot be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The setup describes an impossible device.
    #[error(transparent)]
    Profile(#[from] ProfileErrors),
    /// The device refuses the data.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The request cannot be made of logical blocks.
    #[error(
        "request size: is {request_bytes} B; use a multiple of the logical block of {lba_bytes} B, at most {max_bytes} B"
    )]
    RequestSize {
        /// The size asked for.
        request_bytes: u64,
        /// Bytes of a logical block.
        lba_bytes: u64,
        /// The largest request.
        max_bytes: u64,
    },
    /// The experiment's own requests cannot be made of logical blocks.
    #[error(
        "controller.lba_size: is {lba_bytes} B, and experiment {experiment} reads and writes units of {unit_bytes} B; use {unit_bytes} B or less in the profile"
    )]
    LogicalBlock {
        /// The experiment.
        experiment: &'static str,
        /// Bytes of a logical block.
        lba_bytes: u64,
        /// The largest one.
        unit_bytes: u64,
    },
    /// The device cannot be changed so.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// What was measured cannot be read or simulated.
    #[error(transparent)]
    Measured(#[from] MeasureError),
    /// The timeline cannot be written.
    #[error("the timeline cannot be written: {0}")]
    Timeline(#[from] std::io::Error),
    /// The device refuses a command, or one did not succeed.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl From<String> for ExperimentError {
    fn from(message: String) -> ExperimentError {
        ExperimentError::Measured(message.into())
    }
}

/// Time from the arrival of a read of `request_bytes` on a fresh device of `profile` to its last byte.
///
/// # Errors
///
/// An impossible device, or a size that is not of logical blocks.
pub fn burst_read(profile: &Profile, request_bytes: u64, layout: Layout) -> Result<Duration> {
    burst_read_at(profile, 0, request_bytes, layout)
}

/// The same for a read that begins `offset_bytes` into the data.
pub(super) fn burst_read_at(
    profile: &Profile,
    offset_bytes: u64,
    request_bytes: u64,
    layout: Layout,
) -> Result<Duration> {
    traced_burst_read(profile, offset_bytes, request_bytes, layout, None)
}

/// The same on a device that tells a timeline what it does.
pub(super) fn traced_burst_read(
    profile: &Profile,
    offset_bytes: u64,
    request_bytes: u64,
    layout: Layout,
    timeline: Option<Box<dyn Timeline>>,
) -> Result<Duration> {
    let mut device = Device::new(profile)?;
    if timeline.is_some() {
        device.set_timeline(timeline)?;
    }
    let lba_bytes = profile.controller.lba_size.0;
    let max_bytes = u64::from(u32::MAX) * lba_bytes;
    if request_bytes == 0 || request_bytes % lba_bytes != 0 || request_bytes > max_bytes {
        return Err(ExperimentError::RequestSize {
            request_bytes,
            lba_bytes,
            max_bytes,
        });
    }
    // Whole wordlines, so that the last one read is full of data.
    let wordline_bytes = profile.geometry.page_size.0 * profile.timing.read.len() as u64;
    let data_bytes = (offset_bytes + request_bytes).next_multiple_of(wordline_bytes);
    let nsid = device.create_namespace(data_bytes)?;
    device.preload(nsid, 0, data_bytes / lba_bytes, layout.directive())?;
    let (slba, nlb) = (offset_bytes / lba_bytes, request_bytes / lba_bytes);
    let read = Command::read(nsid, slba, nlb as u32, 0);
    Ok(Source::once(&mut device, read)?)
}
