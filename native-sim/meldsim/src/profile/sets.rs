//! `[sets]`: NVM sets, and what a profile's division of the device must fulfil.

use serde::{Deserialize, Serialize};

use super::Geometry;
use super::validate::Checker;

/// `[sets]`: parts of the device that share as little as the layout allows. Each has its own
/// mapping, blocks, garbage collection, over-provisioning and share of the write buffer and of
/// the mapping's memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sets {
    /// How the device is divided: `baseline`, `vertical`, `horizontal` or `mixed` \[P\]; default
    /// `baseline`.
    pub layout: SetLayout,
    /// NVM sets. Unit: count; 1 for `baseline`, else any count that divides what the layout divides;
    /// default 1.
    pub count: u32,
    /// Groups of channels of a `mixed` layout; the sets of a group share its channels. Unit: count; 1
    /// for the other layouts; default 1.
    pub channel_groups: u32,
}

/// How the device is divided into NVM sets (Seagate and Facebook, Flash Memory Summit 2017).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetLayout {
    /// Not at all: one set of all channels and dies.
    #[default]
    Baseline,
    /// Each set has channels of its own.
    Vertical,
    /// The sets share all channels; each has dies of its own on every channel.
    Horizontal,
    /// The sets of a group of channels share these; each has dies of its own on them.
    Mixed,
}

impl Default for Sets {
    fn default() -> Sets {
        Sets {
            layout: SetLayout::default(),
            count: 1,
            channel_groups: 1,
        }
    }
}

impl Sets {
    /// Whether the geometry, whose fields are in range, can be divided so.
    pub(super) fn check(&self, geometry: &Geometry, checker: &mut Checker) {
        checker.range("sets.count", &self.count, 1..=65_536);
        checker.range("sets.channel_groups", &self.channel_groups, 1..=256);
        if self.count == 0 || self.channel_groups == 0 {
            return;
        }
        let (channels, dies) = (geometry.channels, geometry.dies_per_channel);
        let mut divides = |key: &str, parts: u32, whole: u32, of: &str| {
            if whole % parts != 0 {
                let message = format!("is {parts}, which does not divide {whole}");
                checker.refuse(key, message, format!("must divide {of}"));
            }
        };
        match self.layout {
            SetLayout::Baseline => {
                if self.count != 1 {
                    let message = format!("is {} with sets.layout = \"baseline\"", self.count);
                    let remedy = "must be 1, or choose vertical, horizontal or mixed";
                    checker.refuse("sets.count", message, remedy);
                }
            }
            SetLayout::Vertical => {
                divides("sets.count", self.count, channels, "geometry.channels");
            }
            SetLayout::Horizontal => {
                let of = "geometry.dies_per_channel";
                divides("sets.count", self.count, dies, of);
            }
            SetLayout::Mixed => {
                let groups = self.channel_groups;
                divides("sets.channel_groups", groups, channels, "geometry.channels");
                if self.count % groups != 0 {
                    let message = format!("is {groups}, which does not divide {}", self.count);
                    let remedy = "must divide sets.count";
                    checker.refuse("sets.channel_groups", message, remedy);
                } else {
                    let of = "geometry.dies_per_channel in each channel group";
                    divides("sets.count", self.count / groups, dies, of);
                }
            }
        }
        if self.layout != SetLayout::Mixed && self.channel_groups != 1 {
            let message = format!("is {}", self.channel_groups);
            let remedy = "must be 1 unless sets.layout is \"mixed\"";
            checker.refuse("sets.channel_groups", message, remedy);
        }
    }
}
