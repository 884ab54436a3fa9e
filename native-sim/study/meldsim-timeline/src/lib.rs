//! The timelines of devices: as a file for Perfetto's viewer (ui.perfetto.dev) and its trace processor, and as data of a page
//! of our own.
//!
//! ```text
//!   device --Record--> Timelines --> window --> form: perfetto, compact --> gzip --> file, page
//!                          |                         \--> ring of bytes --> those of the slowest commands
//!                          '--> tail: what the slowest commands waited for
//! ```
//!
//! Memory is bounded however long a run is: nothing is kept but the compressor's window, the ring and what it has given, and of
//! a page as much as a browser shows well.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
// A test may look at a hash map in any order.
#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::iter_over_hash_type))]

mod clock;
mod compact;
mod headline;
mod perfetto;
mod proto;
mod records;
mod slowest;
mod tail;
mod tracks;
mod writer;

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::compact::Compact;
use self::headline::Headline;
use self::tail::Tail;
use self::writer::Writer;
use meldsim::profile::Profile;
use meldsim::timeline::{Record, Timeline};
use meldsim::{Device, Duration, Instant};

pub use self::clock::Clock;
pub use self::perfetto::Perfetto;
pub use self::records::{Kept, Recorded, Recording, RecordsError};
pub use self::tail::{Cause, Waits};
pub use self::tracks::{Annotation, Lanes, Tracks};
pub use self::writer::Form;

/// Which part of a run a timeline shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// From this time of the device on.
    pub from: Duration,
    /// For that long; else to the end.
    pub length: Option<Duration>,
    /// Only what happened during so many commands: those with the greatest latencies.
    pub slowest: Option<u32>,
}

/// What timelines came to.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Written {
    /// Slices in the file or, without one, in the page: commands, spans of buses, arrays and cores, collections.
    pub slices: u64,
    /// The devices for a page, in the order in which they began; none if no page was asked for.
    pub devices: Vec<TimelineData>,
    /// Of each device, what its slowest commands waited for.
    pub waits: Vec<Waits>,
}

/// What a device did, for a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimelineData {
    /// The device, and what was done with it.
    pub name: String,
    /// How many commands of each opcode completed, their mean latency, and the part that was most of it.
    pub headline: String,
    /// The records, compressed by gzip.
    pub bytes: Vec<u8>,
    /// When the first record began for which there was no room.
    pub cut: Option<Instant>,
    /// When the last command was complete.
    pub end: Instant,
}

/// The timelines of one or several devices, which come one after the other. All clones are the same.
pub struct Timelines<W: Write + Send = BufWriter<File>>(Arc<Mutex<Open<W>>>);

impl<W: Write + Send> Clone for Timelines<W> {
    fn clone(&self) -> Timelines<W> {
        Timelines(Arc::clone(&self.0))
    }
}

impl<W: Write + Send> fmt::Debug for Timelines<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Timelines").finish_non_exhaustive()
    }
}

struct Open<W: Write> {
    shown: Shown,
    file: Option<Writer<Perfetto, W>>,
    for_page: bool,
    device: Option<Current>,
    written: Written,
}

/// What is kept of the device that is at work.
struct Current {
    name: String,
    page: Option<Writer<Compact, Vec<u8>>>,
    tail: Tail,
    headline: Headline,
    /// When the last command was complete.
    end: Instant,
}

impl Timelines {
    /// Makes the file, if one is asked for, and keeps the data of a page, if that is.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn create(path: Option<&str>, for_page: bool, shown: Shown) -> io::Result<Timelines> {
        let file = path.map(|path| io::Result::Ok(BufWriter::new(File::create(path)?)));
        Ok(Timelines::new(file.transpose()?, for_page, shown))
    }
}

impl<W: Write + Send + 'static> Timelines<W> {
    /// Writes to an output, if there is one, and keeps the data of a page, if that is asked for.
    pub fn new(output: Option<W>, for_page: bool, shown: Shown) -> Timelines<W> {
        let writer = |output| Writer::new(output, Perfetto::default(), shown);
        Timelines(Arc::new(Mutex::new(Open {
            shown,
            file: output.map(writer),
            for_page,
            device: None,
            written: Written::default(),
        })))
    }

    /// A device begins, and the one before has ended. It is to tell its records to what is returned.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn begin(&self, profile: &Profile, name: &str) -> io::Result<Box<dyn Timeline>> {
        self.open().begin(profile, name)?;
        Ok(Box::new(self.clone()))
    }

    /// Ends the file, and tells what there is.
    ///
    /// # Errors
    ///
    /// The first error of the output since the beginning.
    pub fn finish(&self) -> io::Result<Written> {
        self.open().finish()
    }

    fn open(&self) -> MutexGuard<'_, Open<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write + Send + 'static> Timeline for Timelines<W> {
    fn record(&mut self, record: &Record<'_>) {
        self.open().record(record);
    }
}

/// The timeline of a device ends, if it has one: what its dies are at work on is told up to now.
pub fn end_of(device: &mut Device) {
    // Memory that is no flash has none.
    let _ = device.set_timeline(None);
}

impl<W: Write> Open<W> {
    fn begin(&mut self, profile: &Profile, name: &str) -> io::Result<()> {
        self.end_device()?;
        if let Some(file) = &mut self.file {
            file.begin(profile, name);
        }
        let page = self.for_page.then(|| {
            let mut page = Writer::new(Vec::new(), Compact::default(), self.shown);
            page.begin(profile, name);
            page
        });
        self.device = Some(Current {
            name: name.to_owned(),
            page,
            tail: Tail::default(),
            headline: Headline::default(),
            end: Instant::START,
        });
        Ok(())
    }

    fn record(&mut self, record: &Record<'_>) {
        if let Some(file) = &mut self.file {
            file.record(record);
        }
        if let Some(device) = &mut self.device {
            if let Some(page) = &mut device.page {
                page.record(record);
            }
            device.tail.record(record);
            if let Record::Command(command) = record {
                device.headline.add(command);
                device.end = device.end.max(command.completed);
            }
        }
    }

    fn end_device(&mut self) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.end_device();
        }
        let Some(device) = self.device.take() else {
            return Ok(());
        };
        let name = device.name;
        self.written.waits.push(device.tail.finish(&name));
        if let Some(mut page) = device.page {
            page.end_device();
            if self.file.is_none() {
                self.written.slices += page.slices;
            }
            let cut = page.cut;
            let bytes = page.finish()?;
            self.written.devices.push(TimelineData {
                name,
                headline: device.headline.finish(),
                bytes,
                cut,
                end: device.end,
            });
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<Written> {
        self.end_device()?;
        if let Some(file) = self.file.take() {
            self.written.slices = file.slices;
            file.finish()?.flush()?;
        }
        Ok(std::mem::take(&mut self.written))
    }
}
