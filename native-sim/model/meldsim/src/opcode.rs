//! What commands ask for.

/// What a command asks for. Discriminants are the NVM command set's opcodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Opcode {
    /// Closes every open wordline of the device and waits for its programs.
    #[default]
    Flush = 0x00,
    /// Writes a range.
    Write = 0x01,
    /// Reads a range.
    Read = 0x02,
    /// Dataset management with the deallocate attribute, one range.
    Deallocate = 0x09,
    /// Changes the state of a zone (Zone Management Send).
    ManageZone = 0x79,
    /// Writes at the write pointer of a zone (Zone Append).
    Append = 0x7d,
}

impl Opcode {
    /// The opcode with this number, if the device knows it.
    pub const fn from_u8(value: u8) -> Option<Opcode> {
        match value {
            0x00 => Some(Opcode::Flush),
            0x01 => Some(Opcode::Write),
            0x02 => Some(Opcode::Read),
            0x09 => Some(Opcode::Deallocate),
            0x79 => Some(Opcode::ManageZone),
            0x7d => Some(Opcode::Append),
            _ => None,
        }
    }
}
