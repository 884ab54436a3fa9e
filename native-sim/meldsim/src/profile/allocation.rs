//! The 24 orders in which consecutive pages go to parallel units.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A dimension of the device's parallelism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// Channels.
    Channel = 0,
    /// Packages of a channel.
    Way = 1,
    /// Dies of a package.
    Die = 2,
    /// Planes of a die.
    Plane = 3,
}

use Dimension::{Channel, Die, Plane, Way};

impl Dimension {
    const fn letter(self) -> char {
        match self {
            Channel => 'C',
            Way => 'W',
            Die => 'D',
            Plane => 'P',
        }
    }
}

/// In which order consecutive pages go over channels, ways, dies and planes: the dimension that
/// varies fastest comes first. Written as the initials: `CWDP`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageAllocation([Dimension; 4]);

impl PageAllocation {
    /// All of them, in the order in which Jung and Kandemir (HotStorage'12) list them.
    pub const ALL: [PageAllocation; 24] = [
        PageAllocation([Channel, Way, Die, Plane]),
        PageAllocation([Channel, Way, Plane, Die]),
        PageAllocation([Channel, Die, Way, Plane]),
        PageAllocation([Channel, Die, Plane, Way]),
        PageAllocation([Channel, Plane, Way, Die]),
        PageAllocation([Channel, Plane, Die, Way]),
        PageAllocation([Way, Channel, Die, Plane]),
        PageAllocation([Way, Channel, Plane, Die]),
        PageAllocation([Way, Die, Channel, Plane]),
        PageAllocation([Way, Die, Plane, Channel]),
        PageAllocation([Way, Plane, Channel, Die]),
        PageAllocation([Way, Plane, Die, Channel]),
        PageAllocation([Die, Channel, Way, Plane]),
        PageAllocation([Die, Channel, Plane, Way]),
        PageAllocation([Die, Way, Channel, Plane]),
        PageAllocation([Die, Way, Plane, Channel]),
        PageAllocation([Die, Plane, Channel, Way]),
        PageAllocation([Die, Plane, Way, Channel]),
        PageAllocation([Plane, Channel, Way, Die]),
        PageAllocation([Plane, Channel, Die, Way]),
        PageAllocation([Plane, Way, Channel, Die]),
        PageAllocation([Plane, Way, Die, Channel]),
        PageAllocation([Plane, Die, Channel, Way]),
        PageAllocation([Plane, Die, Way, Channel]),
    ];

    /// The dimensions, the fastest-varying first.
    pub const fn order(self) -> [Dimension; 4] {
        self.0
    }
}

/// `CWDP`: the normal layout of the published latencies.
impl Default for PageAllocation {
    fn default() -> PageAllocation {
        PageAllocation::ALL[0]
    }
}

impl fmt::Display for PageAllocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name: String = self.0.iter().map(|dimension| dimension.letter()).collect();
        f.pad(&name)
    }
}

impl FromStr for PageAllocation {
    type Err = String;

    fn from_str(text: &str) -> Result<PageAllocation, String> {
        let named = |allocation: &PageAllocation| allocation.to_string() == text;
        PageAllocation::ALL.into_iter().find(named).ok_or_else(|| {
            format!(
                "is \"{text}\", which is no page allocation; name C (channel), W (way), D (die) and \
                 P (plane) once each, the fastest-varying first: CWDP"
            )
        })
    }
}

impl Serialize for PageAllocation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PageAllocation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PageAllocation, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_published_ones() {
        let names = "CWDP CWPD CDWP CDPW CPWD CPDW WCDP WCPD WDCP WDPC WPCD WPDC \
                     DCWP DCPW DWCP DWPC DPCW DPWC PCWD PCDW PWCD PWDC PDCW PDWC";
        let all: Vec<String> = PageAllocation::ALL.iter().map(|a| a.to_string()).collect();
        assert_eq!(all.join(" "), names);
        for (name, allocation) in names.split(' ').zip(PageAllocation::ALL) {
            assert_eq!(name.parse(), Ok(allocation));
        }
    }

    #[test]
    fn other_names_are_refused() {
        for name in ["", "cwdp", "CWD", "CWDD", "CWDPP", "channel-first"] {
            let error = name.parse::<PageAllocation>().unwrap_err();
            assert!(error.contains("; name C (channel)"), "{error}");
        }
    }
}
