//! What became of devices before a run: how full they are, how much of that was overwritten at random, and how often
//! each block of it.
//!
//! ```text
//!   fill=100,random=100                  every block as often as any other: the closed form
//!   fill=100,random=100,skew=zipf:0.9    some more often, in the words of random_distribution: overwritten until steady
//! ```
//!
//! A skewed past writes as the jobs do: the same blocks of the same regions are popular before a run and in it.

use std::fmt::{self, Display};
use std::ops::ControlFlow;
use std::str::FromStr;

use super::distribution::{Distribution, parse_distribution};
use super::job::Job;
use super::requests::Requests;
use meldsim::device::{Aging, Device, DeviceError, PastWrite, Precondition};
use meldsim::engine::Random;
use meldsim::nvme::NamespaceId;

/// How the namespaces of a device have been used before a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// How full they are, and how much of that was overwritten.
    pub precondition: Precondition,
    /// How often each block of that was; `None` for all alike.
    pub skew: Option<Distribution>,
}

impl From<Precondition> for Past {
    fn from(precondition: Precondition) -> Past {
        Past {
            precondition,
            skew: None,
        }
    }
}

impl FromStr for Past {
    type Err = String;

    /// Reads `fill=100,random=75,skew=zipf:0.9`; what is left out is 100, and no skew.
    fn from_str(text: &str) -> Result<Past, String> {
        let mut past = Past::default();
        let mut rest = Vec::new();
        for part in text.split(',') {
            match part.split_once('=') {
                Some(("skew", value)) => {
                    let skew = parse_distribution(value);
                    let skew = skew.map_err(|error| format!("skew {error}"))?;
                    // Each block once and again is as even as can be.
                    past.skew = Some(skew).filter(|skew| *skew != Distribution::Once);
                }
                Some(("fill" | "random", _)) | None => rest.push(part),
                Some((key, _)) => {
                    return Err(format!("\"{key}\" is unknown; use fill, random and skew"));
                }
            }
        }
        if !rest.is_empty() {
            past.precondition = rest.join(",").parse()?;
        }
        Ok(past)
    }
}

impl Display for Past {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Precondition {
            fill_percent,
            random_percent,
        } = self.precondition;
        write!(f, "fill={fill_percent},random={random_percent}")?;
        match &self.skew {
            Some(skew) => write!(f, ",skew={skew}"),
            None => Ok(()),
        }
    }
}

impl Past {
    /// Puts a device into the state after it (see [`Device::precondition`]), with random writes of a page each to every
    /// namespace.
    ///
    /// # Errors
    ///
    /// As [`Device::precondition`].
    pub fn befall(&self, device: &mut Device) -> Result<(), DeviceError> {
        let writers: Vec<_> = device.namespaces().iter().map(|of| (of.id, None)).collect();
        self.apply(device, writers.into_iter(), |_| ControlFlow::Continue(()))
    }

    /// Puts a device into the state after it. `writers` are the jobs that write at random, each with its namespace, and the
    /// namespaces of which there is none. `progress` is asked first, and of a skewed past now and then; when it breaks off
    /// then, the past ends there.
    pub(super) fn apply<'a>(
        &self,
        device: &mut Device,
        writers: impl Iterator<Item = (NamespaceId, Option<&'a Job>)>,
        mut progress: impl FnMut(&Aging) -> ControlFlow<()>,
    ) -> Result<(), DeviceError> {
        let _ = progress(&Aging::default());
        let Some(skew) = &self.skew else {
            return device.precondition(&self.precondition);
        };
        let profile = device.profile();
        let lba_bytes = profile.controller.lba_size.0;
        let page_bytes = lba_bytes.max(profile.geometry.page_size.0);
        let writer = |(nsid, job): (NamespaceId, Option<&Job>)| {
            let bytes = device.share_lbas(nsid)? * lba_bytes;
            let by_page = Job {
                block_bytes: page_bytes,
                size_bytes: bytes,
                ..Job::new("")
            };
            let requests =
                Requests::past(job.unwrap_or(&by_page), skew, self.overwritten_bytes(bytes))?;
            Some(Writer { nsid, requests })
        };
        let mut writers: Vec<Writer> = writers.filter_map(writer).collect();
        let places = writers.iter().map(|writer| writer.requests.places());
        let places: u64 = places.sum();
        let mut random = Random::new(places);
        // Each block of theirs is one that any of them may write next.
        let mut writes = std::iter::from_fn(|| {
            let mut ticket = random.below(places);
            for writer in &mut writers {
                let own = writer.requests.places();
                if ticket < own {
                    let request = writer.requests.next()?;
                    return Some(PastWrite {
                        nsid: writer.nsid,
                        slba: request.start / lba_bytes,
                        nlb: request.bytes / lba_bytes,
                    });
                }
                ticket -= own;
            }
            None
        });
        device.precondition_by(&self.precondition, &mut writes, &mut progress)?;
        Ok(())
    }

    /// Of so many bytes from the start of a namespace, those that were overwritten.
    fn overwritten_bytes(&self, bytes: u64) -> u64 {
        let percent =
            |bytes: u64, percent: u32| (u128::from(bytes) * u128::from(percent) / 100) as u64;
        let filled = percent(bytes, self.precondition.fill_percent);
        percent(filled, self.precondition.random_percent)
    }
}

/// What is written to a namespace.
struct Writer {
    nsid: NamespaceId,
    requests: Requests,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications_are_read_and_written() {
        for (text, all) in [
            ("fill=80,random=25", "fill=80,random=25"),
            ("skew=zipf:0.9", "fill=100,random=100,skew=zipf:0.9"),
            (
                "fill=70,skew=zoned:90/10:10/90,random=60",
                "fill=70,random=60,skew=zoned:90/10:10/90",
            ),
            ("fill=70,skew=random", "fill=70,random=100"),
        ] {
            let past: Past = text.parse().unwrap();
            assert_eq!(past.to_string(), all);
            assert_eq!(all.parse(), Ok(past));
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            ("", "no value"),
            ("fil=3", "\"fil\" is unknown; use fill, random and skew"),
            ("fill=0", "fill is \"0\""),
            (
                "skew=gauss",
                "skew is \"gauss\", which is unknown; use random, zipf",
            ),
            ("skew=zoned:90/10", "skew has zones \"90/10\""),
            ("skew", "\"skew\" has no value"),
        ] {
            let error = text.parse::<Past>().unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
