//! Directives: what a write says about how its data will be read, and with what it belongs.

use std::fmt;

use thiserror::Error;

/// Streams of a namespace, numbered from 1; 0 is no stream.
pub const MAX_STREAMS: u16 = 16;

/// The expected access to the data when it is read: bits 3:0 of the read-pattern DSPEC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Pattern {
    /// Nothing is known.
    #[default]
    None = 0,
    /// Large sequential reads: worth laying consecutive pages on one wordline.
    Sequential = 1,
    /// Small reads anywhere.
    Random = 2,
}

/// DTYPE and DSPEC of a write (CDW12 23:20 and CDW13 31:16). Shown in hexadecimal, as the standard writes them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Directive {
    /// Directive type: 0 for none, [`Directive::STREAMS`], [`Directive::DATA_PLACEMENT`], [`Directive::READ_PATTERN`].
    pub dtype: u8,
    /// Directive specific value.
    pub dspec: u16,
}

impl Directive {
    /// No directive.
    pub const NONE: Directive = Directive { dtype: 0, dspec: 0 };
    /// The vendor-specific directive type that carries a read pattern.
    pub const READ_PATTERN: u8 = 0x0F;
    /// The directive type that carries a stream identifier.
    pub const STREAMS: u8 = 0x01;
    /// The directive type that carries a placement identifier, of a device with [flexible data placement](super::fdp).
    pub const DATA_PLACEMENT: u8 = 0x02;

    /// The read-pattern directive for `pattern`.
    pub const fn read_pattern(pattern: Pattern) -> Directive {
        Directive {
            dtype: Directive::READ_PATTERN,
            dspec: pattern as u16,
        }
    }

    /// The streams directive for `stream`: 1 to [`MAX_STREAMS`](super::MAX_STREAMS), 0 for none.
    pub const fn stream_of(stream: u16) -> Directive {
        Directive {
            dtype: Directive::STREAMS,
            dspec: stream,
        }
    }

    /// The data placement directive with a placement identifier. One that the device does not have stands for 0.
    pub const fn placement(pid: u16) -> Directive {
        Directive {
            dtype: Directive::DATA_PLACEMENT,
            dspec: pid,
        }
    }

    /// The stream this directive carries, 0 for none. A placement identifier of a device with so many reclaim unit handles is
    /// a stream, and such a device has no others.
    pub(crate) const fn stream(self, handles: u16) -> Result<u16, DirectiveError> {
        match (self.dtype, handles) {
            (Directive::STREAMS, 0) => Ok(self.dspec),
            (Directive::DATA_PLACEMENT, 1..) => Ok(match self.names_handle(handles) {
                true => self.dspec,
                false => 0,
            }),
            (dtype @ (Directive::STREAMS | Directive::DATA_PLACEMENT), _) => {
                Err(DirectiveError::Type { dtype })
            }
            _ => Ok(0),
        }
    }

    /// Whether it is no placement identifier, or one that a device with so many handles has.
    pub(crate) const fn names_handle(self, handles: u16) -> bool {
        self.dtype != Directive::DATA_PLACEMENT || self.dspec < handles
    }

    /// The read pattern this directive carries, or why the device refuses it. A stream and a
    /// placement identifier carry none of themselves.
    ///
    /// DSPEC bits 7:4 hold log2 of the expected read size in units of 64 KiB; every value is
    /// accepted. Bits 15:8 are reserved and refused when set.
    pub const fn pattern(self) -> Result<Pattern, DirectiveError> {
        match self.dtype {
            0 if self.dspec == 0 => Ok(Pattern::None),
            0 => Err(DirectiveError::Reserved { dspec: self.dspec }),
            Directive::READ_PATTERN => {
                if self.dspec & 0xFF00 != 0 {
                    return Err(DirectiveError::Reserved { dspec: self.dspec });
                }
                match self.dspec & 0x0F {
                    0 => Ok(Pattern::None),
                    1 => Ok(Pattern::Sequential),
                    2 => Ok(Pattern::Random),
                    _ => Err(DirectiveError::Pattern { dspec: self.dspec }),
                }
            }
            Directive::STREAMS if self.dspec <= MAX_STREAMS => Ok(Pattern::None),
            Directive::STREAMS => Err(DirectiveError::Stream { dspec: self.dspec }),
            Directive::DATA_PLACEMENT => Ok(Pattern::None),
            dtype => Err(DirectiveError::Type { dtype }),
        }
    }
}

impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#04x}:{:#06x}", self.dtype, self.dspec)
    }
}

impl fmt::Debug for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Directive({self})")
    }
}

/// Why a directive is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DirectiveError {
    /// A type the device does not implement.
    #[error(
        "directive type {dtype:#04x} is not supported; use 0 (none), 1 (streams), or 2 (data placement) in its place with a profile whose fdp.handles is not 0, or 0x0f (read pattern)"
    )]
    Type {
        /// The type given.
        dtype: u8,
    },
    /// A reserved bit is set.
    #[error("directive value {dspec:#06x} sets reserved bits; clear them")]
    Reserved {
        /// The value given.
        dspec: u16,
    },
    /// A pattern that does not exist.
    #[error(
        "directive value {dspec:#06x} names no read pattern; use 0 (none), 1 (sequential) or 2 (random)"
    )]
    Pattern {
        /// The value given.
        dspec: u16,
    },
    /// A stream that does not exist.
    #[error(
        "directive value {dspec:#06x} names no stream: {dspec} does not exist; use 1 to {MAX_STREAMS}, or 0 for none"
    )]
    Stream {
        /// The stream given.
        dspec: u16,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_shown_in_hexadecimal() {
        let melded = Directive::read_pattern(Pattern::Sequential);
        assert_eq!(melded.to_string(), "0x0f:0x0001");
        assert_eq!(format!("{melded:?}"), "Directive(0x0f:0x0001)");
        let refused = Directive::stream_of(300).pattern().unwrap_err();
        assert!(refused.to_string().contains("0x012c"), "{refused}");
    }
}
