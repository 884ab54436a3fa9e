//! Structures with fields at fixed byte offsets, little-endian, as the specification draws them.

/// A value with one representation on the wire.
pub(super) trait Field: Sized {
    const BYTES: usize;
    /// Writes to the first [`Field::BYTES`] bytes.
    fn put(&self, to: &mut [u8]);
    /// Reads from the first [`Field::BYTES`] bytes.
    fn get(from: &[u8]) -> Self;
}

macro_rules! integer {
    ($($type:ty)*) => {
        $(impl Field for $type {
            const BYTES: usize = size_of::<$type>();
            fn put(&self, to: &mut [u8]) {
                to[..Self::BYTES].copy_from_slice(&self.to_le_bytes());
            }
            fn get(from: &[u8]) -> $type {
                let mut bytes = [0; Self::BYTES];
                bytes.copy_from_slice(&from[..Self::BYTES]);
                <$type>::from_le_bytes(bytes)
            }
        })*
    };
}

integer!(u8 u16 u32 u64 u128);

impl<const N: usize> Field for [u8; N] {
    const BYTES: usize = N;
    fn put(&self, to: &mut [u8]) {
        to[..N].copy_from_slice(self);
    }
    fn get(from: &[u8]) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&from[..N]);
        bytes
    }
}

/// Whether fields, given as (offset, bytes), ascend without overlap and end within `size`.
pub(super) const fn is_laid_out(fields: &[(usize, usize)], size: usize) -> bool {
    let (mut index, mut end) = (0, 0);
    while index < fields.len() {
        if fields[index].0 < end {
            return false;
        }
        end = fields[index].0 + fields[index].1;
        index += 1;
    }
    end <= size
}

/// Declares a structure of `bytes` bytes, each field at its offset. What no field covers is
/// reserved: zero when encoded, ignored when parsed.
macro_rules! layout {
    (
        $(#[$doc:meta])*
        pub struct $name:ident, $bytes:literal bytes {
            $($(#[$field_doc:meta])* $field:ident: $type:ty = $offset:literal,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $name {
            /// Bytes on the wire.
            pub const BYTES: usize = $bytes;

            /// As it lies in memory; reserved bytes are zero.
            pub fn encode(&self) -> [u8; $bytes] {
                let mut bytes = [0; $bytes];
                $($crate::nvme::wire::layout::Field::put(&self.$field, &mut bytes[$offset..]);)*
                bytes
            }

            /// From memory. Every content is accepted: what values mean is the user's business.
            pub fn parse(bytes: &[u8; $bytes]) -> $name {
                $name {
                    $($field: $crate::nvme::wire::layout::Field::get(&bytes[$offset..]),)*
                }
            }
        }

        impl Default for $name {
            fn default() -> $name {
                $name::parse(&[0; $bytes])
            }
        }

        const _: () = assert!($crate::nvme::wire::layout::is_laid_out(
            &[$(($offset, <$type as $crate::nvme::wire::layout::Field>::BYTES)),*],
            $bytes,
        ));
    };
}

pub(super) use layout;
