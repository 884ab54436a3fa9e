//! The media there are.

use std::ops::{Deref, DerefMut};

use super::medium::Medium;
use super::page_mapped::{Cached, NandMedium};
use super::request::Requests;
use super::xpoint::XpointMedium;
use crate::engine::EventQueue;
use crate::event::Event;
use crate::ftl::MapIndex;
use crate::profile::{Kind, MapKind, Profile, ProfileError};
use crate::timeline::Recorder;

/// Makes [`AnyMedium`] of the list of media. What is asked once a command or once an event is a `match` here, so that a
/// medium's code becomes part of the caller's; all else goes by [`Deref`].
macro_rules! media {
    ($($(#[$attribute:meta])* $name:ident($medium:ty) $(if $kind:pat)?,)+) => {
        #[derive(Debug)]
        #[allow(clippy::large_enum_variant, reason = "there is one in a device, and it stays there")]
        pub(super) enum AnyMedium {
            $($(#[$attribute])* $name($medium),)+
        }

        impl AnyMedium {
            pub(super) fn new(profile: &Profile) -> Result<AnyMedium, ProfileError> {
                Ok(match (profile.kind, profile.ftl.map) {
                    $($($kind => AnyMedium::$name(<$medium>::new(profile)?),)?)+
                })
            }

            #[inline(always)]
            pub(super) fn begin(
                &mut self,
                queue: &mut EventQueue<Event>,
                requests: &mut Requests,
                id: u32,
            ) {
                match self {
                    $($(#[$attribute])* AnyMedium::$name(it) => it.begin(queue, requests, id),)+
                }
            }

            #[inline(always)]
            pub(super) fn step_channel(
                &mut self,
                queue: &mut EventQueue<Event>,
                requests: &mut Requests,
                channel: u32,
            ) {
                match self {
                    $($(#[$attribute])* AnyMedium::$name(it) => it.step_channel(queue, requests, channel),)+
                }
            }

            #[inline(always)]
            pub(super) fn process(
                &mut self,
                queue: &mut EventQueue<Event>,
                requests: &mut Requests,
                event: Event,
            ) {
                match self {
                    $($(#[$attribute])* AnyMedium::$name(it) => it.process(queue, requests, event),)+
                }
            }

            #[inline(always)]
            pub(super) fn command_completed(&mut self, queue: &mut EventQueue<Event>, set: u32) {
                match self {
                    $($(#[$attribute])* AnyMedium::$name(it) => it.command_completed(queue, set),)+
                }
            }

            #[inline(always)]
            pub(super) fn recorder(&mut self) -> Option<&mut Recorder> {
                match self {
                    $($(#[$attribute])* AnyMedium::$name(it) => it.recorder(),)+
                }
            }

            #[inline(always)]
            pub(super) fn prefetch(&self, at: (u32, MapIndex)) {
                match self {
                    $($(#[$attribute])* AnyMedium::$name(it) => it.prefetch(at),)+
                }
            }

            #[inline(always)]
            pub(super) fn prefetch_ahead(&self, at: (u32, u32, u64)) -> Option<(u32, MapIndex)> {
                match self {
                    $($(#[$attribute])* AnyMedium::$name(it) => it.prefetch_ahead(at),)+
                }
            }

            /// Exchanges the state of a set with another medium of the same profile.
            pub(super) fn exchange_set(&mut self, other: &mut AnyMedium, set: usize) {
                match (self, other) {
                    $($(#[$attribute])* (AnyMedium::$name(it), AnyMedium::$name(other)) => it.exchange_set(other, set),)+
                    _ => {}
                }
            }
        }

        impl Deref for AnyMedium {
            type Target = dyn Medium;

            #[inline]
            fn deref(&self) -> &(dyn Medium + 'static) {
                match self {
                    $($(#[$attribute])* AnyMedium::$name(it) => it,)+
                }
            }
        }

        impl DerefMut for AnyMedium {
            #[inline]
            fn deref_mut(&mut self) -> &mut (dyn Medium + 'static) {
                match self {
                    $($(#[$attribute])* AnyMedium::$name(it) => it,)+
                }
            }
        }
    };
}

// Of each: its name, its type, and the profile's `kind` and `ftl.map` that choose it.
media! {
    Nand(NandMedium) if (Kind::Nand, MapKind::Table),
    Cached(NandMedium<Cached>) if (Kind::Nand, MapKind::Cached),
    Xpoint(XpointMedium) if (Kind::Xpoint, _),
    #[cfg(test)]
    Zones(super::tests::zone::Zones),
}
