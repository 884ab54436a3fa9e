//! Protocol buffers, as far as a trace needs them: varints, fixed 64 bits, and what has a length.

/// A message that is being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

/// Wire types.
const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH: u32 = 2;

/// Adds a number of variable length (LEB128).
pub(super) fn varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

impl Message {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.0
    }

    fn raw(&mut self, value: u64) {
        varint(&mut self.0, value);
    }

    fn tag(&mut self, field: u32, wire: u32) {
        self.raw(u64::from(field << 3 | wire));
    }

    pub(super) fn varint(&mut self, field: u32, value: u64) {
        self.tag(field, VARINT);
        self.raw(value);
    }

    pub(super) fn fixed64(&mut self, field: u32, value: u64) {
        self.tag(field, FIXED64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, field: u32, value: &[u8]) {
        self.tag(field, LENGTH);
        self.raw(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    pub(super) fn text(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    /// A message in a field. Those here are short: they get one byte for their length, and more when they turn out longer.
    pub(super) fn message(&mut self, field: u32, write: impl FnOnce(&mut Message)) {
        self.tag(field, LENGTH);
        let at = self.0.len();
        self.0.push(0);
        write(self);
        let length = self.0.len() - at - 1;
        if length < 0x80 {
            self.0[at] = length as u8;
            return;
        }
        let mut prefix = Message::default();
        prefix.raw(length as u64);
        self.0.splice(at..=at, prefix.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_writes_what_the_specification_shows() {
        let mut message = Message::default();
        // The examples of "Encoding", Protocol Buffers documentation.
        message.varint(1, 150);
        message.text(2, "testing");
        message.message(3, |inner| inner.varint(1, 150));
        let expected = [
            0x08, 0x96, 0x01, 0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67, 0x1a, 0x03,
            0x08, 0x96, 0x01,
        ];
        assert_eq!(message.as_slice(), expected);
    }

    #[test]
    fn a_long_message_has_a_long_length() {
        let mut message = Message::default();
        message.message(1, |inner| inner.bytes(2, &[7; 300]));
        let bytes = message.as_slice();
        assert_eq!(bytes[..3], [0x0a, 0xaf, 0x02], "303 bytes");
        assert_eq!(bytes.len(), 3 + 303);
    }
}
