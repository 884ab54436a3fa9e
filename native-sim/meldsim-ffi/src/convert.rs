//! Between the integers of the ABI and the types of the model.

use meldsim_core::nvme::wire::io::DsmByte;
use meldsim_core::{
    Command, Device, DeviceError, Directive, Namespace, NamespaceId, Opcode, Profile,
    ProfileErrors, SetInfo, Status,
};

use crate::abi::{MELDSIM_NAMESPACE_INFO_COUNT, MELDSIM_SET_INFO_COUNT, meldsim_command};
use crate::error::{
    Failure, MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CAPACITY, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_PANIC,
    MELDSIM_ERR_PROFILE, MELDSIM_ERR_RANGE, MELDSIM_ERR_UNSUPPORTED,
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
        let names: Vec<&str> = Profile::builtin_names().collect();
        Failure::new(
            MELDSIM_ERR_PROFILE,
            format!(
                "profile {path}: not built in ({}) and not a readable file: {error}",
                names.join(", ")
            ),
        )
    })
}

/// The model's command for `command`; its tag is set on submission.
pub(crate) fn command(command: &meldsim_command) -> Result<Command, Failure> {
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
    if command.reserved != 0 {
        return Err(Failure::argument(
            "the reserved field of a command must be 0",
        ));
    }
    Ok(Command {
        opcode,
        nsid: NamespaceId(command.nsid),
        slba: command.slba,
        nlb: command.nlb,
        directive: directive(command.directive)?,
        dsm: u8::try_from(command.dsm).map(DsmByte).map_err(|_| {
            Failure::argument(format!("the DSM field {:#x} is above 0xff", command.dsm))
        })?,
        tag: 0,
    })
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
    ]
}

/// The values of `meldsim_set_info`, in its order.
pub(crate) fn set_values(info: &SetInfo) -> [u64; MELDSIM_SET_INFO_COUNT as usize] {
    let SetInfo {
        capacity_pages,
        mapped_pages,
        free_blocks,
        host_pages_programmed,
        gc_pages_moved,
        erases,
    } = *info;
    [
        capacity_pages,
        mapped_pages,
        free_blocks,
        host_pages_programmed,
        gc_pages_moved,
        erases,
    ]
}

/// The failure for a command that the device refuses on arrival.
pub(crate) fn refused(error: DeviceError) -> Failure {
    let code = match error {
        DeviceError::UnknownNamespace { .. } => MELDSIM_ERR_NAMESPACE,
        DeviceError::NamespaceSize { .. }
        | DeviceError::UnknownSet { .. }
        | DeviceError::UnknownQueue { .. }
        | DeviceError::QueueFull { .. }
        | DeviceError::QueueDepth
        | DeviceError::NoRanges
        | DeviceError::Busy
        | DeviceError::WindowsDisabled { .. }
        | DeviceError::WindowNotEarned { .. }
        | DeviceError::TooManyQueues => MELDSIM_ERR_ARGUMENT,
        DeviceError::OutOfRange { .. } => MELDSIM_ERR_RANGE,
        DeviceError::Directive(_) | DeviceError::DirectiveNotOnWrite => MELDSIM_ERR_UNSUPPORTED,
        DeviceError::CapacityExceeded { .. } => MELDSIM_ERR_CAPACITY,
        // For good: this device serves nobody any more.
        DeviceError::EndOfTime => MELDSIM_ERR_PANIC,
    };
    Failure::new(code, error.to_string())
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
