//! Status codes the controller completes commands with.

use std::fmt;

/// A status: type and code (Base specification, Completion Queue Entry: Status Field).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatusCode {
    /// Status Code Type (SCT): 0 generic, 1 command specific.
    pub sct: u8,
    /// Status Code (SC).
    pub sc: u8,
}

macro_rules! status_codes {
    ($($(#[$doc:meta])* $name:ident = $sct:literal, $sc:literal, $text:literal;)*) => {
        impl StatusCode {
            $($(#[$doc])* pub const $name: StatusCode = StatusCode { sct: $sct, sc: $sc };)*
        }

        impl fmt::Display for StatusCode {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $(StatusCode::$name => f.write_str($text),)*
                    StatusCode { sct, sc } => write!(f, "status {sct:x}h/{sc:02x}h"),
                }
            }
        }
    };
}

status_codes! {
    /// Generic: Successful Completion, 00h.
    SUCCESS = 0, 0x00, "Successful Completion";
    /// Generic: Invalid Command Opcode, 01h.
    INVALID_OPCODE = 0, 0x01, "Invalid Command Opcode";
    /// Generic: Invalid Field in Command, 02h.
    INVALID_FIELD = 0, 0x02, "Invalid Field in Command";
    /// Generic: Command ID Conflict, 03h.
    COMMAND_ID_CONFLICT = 0, 0x03, "Command ID Conflict";
    /// Generic: Data Transfer Error, 04h.
    DATA_TRANSFER_ERROR = 0, 0x04, "Data Transfer Error";
    /// Generic: Internal Error, 06h.
    INTERNAL_ERROR = 0, 0x06, "Internal Error";
    /// Generic: Invalid Namespace or Format, 0Bh.
    INVALID_NAMESPACE = 0, 0x0B, "Invalid Namespace or Format";
    /// Generic: Command Sequence Error, 0Ch.
    COMMAND_SEQUENCE_ERROR = 0, 0x0C, "Command Sequence Error";
    /// Generic, NVM command set: LBA Out of Range, 80h.
    LBA_OUT_OF_RANGE = 0, 0x80, "LBA Out of Range";
    /// Generic, NVM command set: Capacity Exceeded, 81h.
    CAPACITY_EXCEEDED = 0, 0x81, "Capacity Exceeded";
    /// Command specific: Completion Queue Invalid, 00h.
    COMPLETION_QUEUE_INVALID = 1, 0x00, "Completion Queue Invalid";
    /// Command specific: Invalid Queue Identifier, 01h.
    INVALID_QUEUE_IDENTIFIER = 1, 0x01, "Invalid Queue Identifier";
    /// Command specific: Invalid Queue Size, 02h.
    INVALID_QUEUE_SIZE = 1, 0x02, "Invalid Queue Size";
    /// Command specific: Invalid Log Page, 09h.
    INVALID_LOG_PAGE = 1, 0x09, "Invalid Log Page";
    /// Command specific: Invalid Queue Deletion, 0Ch.
    INVALID_QUEUE_DELETION = 1, 0x0C, "Invalid Queue Deletion";
    /// Command specific: Feature Identifier Not Saveable, 0Dh.
    FEATURE_NOT_SAVEABLE = 1, 0x0D, "Feature Identifier Not Saveable";
    /// Command specific: Stream Resource Allocation Failed, 7Fh.
    STREAM_RESOURCE_ALLOCATION_FAILED = 1, 0x7F, "Stream Resource Allocation Failed";
}

impl StatusCode {
    /// Whether the command did what it was asked to.
    pub const fn is_success(self) -> bool {
        self.sct == 0 && self.sc == 0
    }

    /// The Status Field (15 bits, without the phase tag): SC 7:0, SCT 10:8, DNR 14. A refusal does
    /// not get better by repeating it, except where the device has to make room first.
    pub const fn to_field(self) -> u16 {
        let retry = self.is_success()
            || matches!(self, StatusCode::CAPACITY_EXCEEDED)
            || matches!(self, StatusCode::COMMAND_SEQUENCE_ERROR);
        (self.sc as u16) | (self.sct as u16) << 8 | if retry { 0 } else { 1 << 14 }
    }
}
