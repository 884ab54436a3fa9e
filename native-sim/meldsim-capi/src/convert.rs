//! Between the integers of the ABI and the types of the model.

use std::fs::File;
use std::io::BufReader;

use meldsim::nvme::Priority;
use meldsim::nvme::wire::io::DsmByte;
use meldsim::nvme::wire::sets::{PredictableLatencyConfig, PredictableLatencyLog};
use meldsim::{
    Command, Device, DeviceError, Directive, Location, Namespace, NamespaceId, Opcode, Profile,
    ProfileError, ProfileErrors, QueueId, SetInfo, SnapshotError, Status,
};
use meldsim_experiments::workload::trace::decompressed;
use meldsim_experiments::workload::{RequestError, RunError, RunRequest};

use crate::abi::*;
use crate::error::{
    Failure, MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CAPACITY, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_PANIC,
    MELDSIM_ERR_PROFILE, MELDSIM_ERR_RANGE, MELDSIM_ERR_SNAPSHOT, MELDSIM_ERR_UNSUPPORTED,
};

/// A fresh device of the profile `name`: a built-in one, or the path of a TOML file.
pub(crate) fn device(name: &str) -> Result<Device, Failure> {
    let refused = |errors: ProfileErrors| {
        Failure::new(MELDSIM_ERR_PROFILE, format!("profile {name}: {errors}"))
    };
    let profile = if Profile::builtin_names().any(|builtin| builtin == name) {
        Profile::builtin(name).map_err(refused)?
    } else {
        Profile::from_toml(&read(name)?).map_err(refused)?
    };
    Device::new(&profile).map_err(refused)
}

fn read(path: &str) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        let remedy = ProfileError::not_built_in(path).remedy;
        Failure::new(
            MELDSIM_ERR_PROFILE,
            format!("profile {path}: not built in and not a readable file ({error}); {remedy}"),
        )
    })
}

/// Runs a whole workload: a request in JSON, a result in JSON.
pub(crate) fn run(request: &str) -> Result<String, Failure> {
    let open = |path: &str| decompressed(BufReader::new(File::open(path)?));
    RunRequest::from_json(request)
        .and_then(|request| request.run(open))
        .map_err(|error| Failure::new(run_code(&error), error.to_string()))
}

fn run_code(error: &RequestError) -> i32 {
    match error {
        RequestError::Profile(_) | RequestError::Run(RunError::Profile(_)) => MELDSIM_ERR_PROFILE,
        RequestError::Run(RunError::Device { error, .. } | RunError::Precondition(error)) => {
            refused_code(error)
        }
        RequestError::Run(RunError::Room { .. }) => MELDSIM_ERR_CAPACITY,
        RequestError::Run(RunError::Stuck { .. }) | RequestError::Result(_) => MELDSIM_ERR_PANIC,
        // The rest is wrong with the request itself.
        _ => MELDSIM_ERR_ARGUMENT,
    }
}

/// The model's command for `command`.
pub(crate) fn command(command: &meldsim_command, tag: u64) -> Result<Command, Failure> {
    let opcode = u8::try_from(command.opcode)
        .ok()
        .and_then(Opcode::from_u8)
        .ok_or_else(|| {
            Failure::new(
                MELDSIM_ERR_UNSUPPORTED,
                format!(
                    "opcode {:#x} is unknown; use 0 (flush), 1 (write), 2 (read) or 9 (deallocate)",
                    command.opcode
                ),
            )
        })?;
    Ok(Command {
        opcode,
        nsid: NamespaceId(command.nsid),
        slba: command.slba,
        nlb: command.nlb,
        directive: directive(command.directive)?,
        dsm: u8::try_from(command.dsm).map(DsmByte).map_err(|_| {
            Failure::argument(format!("the DSM field {:#x} is above 0xff", command.dsm))
        })?,
        tag,
    })
}

/// The submission queue of that number.
pub(crate) fn queue(number: u32) -> Result<QueueId, Failure> {
    let queue = u16::try_from(number).map(QueueId);
    queue.map_err(|_| Failure::argument(format!("submission queue {number} is above 65535")))
}

/// The priority of that number, as in NVMe's Create I/O Submission Queue.
pub(crate) fn priority(number: u32) -> Result<Priority, Failure> {
    match number {
        MELDSIM_PRIORITY_URGENT => Ok(Priority::Urgent),
        MELDSIM_PRIORITY_HIGH => Ok(Priority::High),
        MELDSIM_PRIORITY_MEDIUM => Ok(Priority::Medium),
        MELDSIM_PRIORITY_LOW => Ok(Priority::Low),
        other => Err(Failure::argument(format!(
            "priority {other} is unknown; use 0 (urgent), 1 (high), 2 (medium) or 3 (low)"
        ))),
    }
}

/// The values of `meldsim_locate`, in its order.
pub(crate) fn location_values(location: Location) -> [u64; MELDSIM_LOCATION_COUNT as usize] {
    match location {
        Location::Unmapped => [MELDSIM_UNMAPPED.into(), 0, 0, 0, 0, 0, 0],
        Location::Buffered => [MELDSIM_BUFFERED.into(), 0, 0, 0, 0, 0, 0],
        Location::Flash {
            channel,
            die,
            plane,
            block,
            wordline,
            page,
        } => [MELDSIM_ON_FLASH, channel, die, plane, block, wordline, page].map(u64::from),
        Location::Xpoint { die, chunk } => {
            [MELDSIM_IN_XPOINT.into(), 0, die.into(), 0, chunk, 0, 0]
        }
    }
}

/// The values of `meldsim_window_info`, in its order.
pub(crate) fn window_values(
    log: &PredictableLatencyLog,
    config: &PredictableLatencyConfig,
) -> [u64; MELDSIM_WINDOW_INFO_COUNT as usize] {
    [
        (log.status as u8).into(),
        log.event_type.into(),
        log.dtwin_reads_typical,
        log.dtwin_writes_typical,
        log.dtwin_time_maximum_ms,
        log.ndwin_time_minimum_high_ms,
        log.ndwin_time_minimum_low_ms,
        log.dtwin_reads_estimate,
        log.dtwin_writes_estimate,
        log.dtwin_time_estimate_ms,
        config.enable_event.into(),
        config.reads_threshold,
        config.writes_threshold,
        config.time_threshold_ms,
    ]
}

/// Takes `dtype << 16 | dspec` apart; what it means is the device's business.
pub(crate) fn directive(packed: u32) -> Result<Directive, Failure> {
    let dtype = u8::try_from(packed >> 16).map_err(|_| {
        Failure::new(
            MELDSIM_ERR_UNSUPPORTED,
            format!("directive {packed:#010x} has a type above 255"),
        )
    })?;
    Ok(Directive {
        dtype,
        dspec: packed as u16,
    })
}

/// The values of `meldsim_namespace_info`, in its order.
pub(crate) fn namespace_values(
    device: &Device,
    namespace: &Namespace,
) -> [u64; MELDSIM_NAMESPACE_INFO_COUNT as usize] {
    let capacity_bytes = device.stats().capacity_pages * namespace.page_bytes;
    [
        namespace.lba_bytes,
        namespace.size_lbas,
        namespace.page_bytes,
        namespace.wordline_bytes,
        capacity_bytes,
        device.set_of(namespace.id).map_or(0, u64::from),
        device.allocated_lbas(namespace.id),
    ]
}

/// The values of `meldsim_set_info`, in its order.
pub(crate) fn set_values(
    device: &Device,
    set: u32,
) -> Result<[u64; MELDSIM_SET_INFO_COUNT as usize], Failure> {
    let sets = device.sets();
    let info = device.set_info(set);
    let info = info.ok_or_else(|| refused(DeviceError::UnknownSet { set, sets }))?;
    let usage = device.set_usage(set);
    let SetInfo {
        capacity_pages,
        mapped_pages,
        free_blocks,
        host_pages_programmed,
        gc_pages_moved,
        erases,
    } = info;
    Ok([
        capacity_pages,
        mapped_pages,
        free_blocks,
        host_pages_programmed,
        gc_pages_moved,
        erases,
        usage.read_commands,
        usage.read_bytes,
        usage.write_commands,
        usage.written_bytes,
        usage.programmed_bytes,
        device.optimal_write_bytes(),
        device.random_read_typical().as_ps(),
    ])
}

/// The failure for a command that the device refuses on arrival.
pub(crate) fn refused(error: DeviceError) -> Failure {
    Failure::new(refused_code(&error), error.to_string())
}

fn refused_code(error: &DeviceError) -> i32 {
    match error {
        DeviceError::UnknownNamespace { .. } => MELDSIM_ERR_NAMESPACE,
        DeviceError::NamespaceSize { .. }
        | DeviceError::UnknownSet { .. }
        | DeviceError::UnknownQueue { .. }
        | DeviceError::QueueDepth
        | DeviceError::NoRanges
        | DeviceError::Busy
        | DeviceError::WindowsUnsupported
        | DeviceError::WindowsDisabled { .. }
        | DeviceError::WindowNotEarned { .. } => MELDSIM_ERR_ARGUMENT,
        DeviceError::OutOfRange { .. } => MELDSIM_ERR_RANGE,
        DeviceError::Directive(_) | DeviceError::DirectiveNotOnWrite => MELDSIM_ERR_UNSUPPORTED,
        DeviceError::CapacityExceeded { .. }
        | DeviceError::QueueFull { .. }
        | DeviceError::TooManyQueues => MELDSIM_ERR_CAPACITY,
        // For good: this device serves nobody any more.
        DeviceError::EndOfTime => MELDSIM_ERR_PANIC,
    }
}

/// The failure for bytes that are not taken as a snapshot.
pub(crate) fn no_snapshot(error: SnapshotError) -> Failure {
    Failure::new(MELDSIM_ERR_SNAPSHOT, error.to_string())
}

/// The failure for a command that completed with an error.
pub(crate) fn completed_with(status: Status) -> Failure {
    match status {
        Status::Success => Failure::panic("success taken for a failure"),
        Status::CapacityExceeded => Failure::new(
            MELDSIM_ERR_CAPACITY,
            "the device has no room for the write; deallocate something",
        ),
    }
}
