//! What a job file refers to besides its text: the environment, the files beside it, and the device it will run on.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use meldsim::Profile;
use meldsim_workload::{Surroundings, capacity_bytes};

/// Bytes of a job file, a profile or a grid at most.
const TEXT_MAX: u64 = 16 << 20;

/// The text of a file, or of standard input for `-`. Of one that is not in UTF-8 the error names the line.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    match path == Path::new("-") {
        true => io::stdin().take(TEXT_MAX + 1).read_to_end(&mut bytes)?,
        false => File::open(path)?
            .take(TEXT_MAX + 1)
            .read_to_end(&mut bytes)?,
    };
    if bytes.len() as u64 > TEXT_MAX {
        let text = format!("it has more than the {TEXT_MAX} B that a text may have here");
        return Err(io::Error::other(text));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
        let text = format!("line {line} is not text in UTF-8");
        io::Error::new(io::ErrorKind::InvalidData, text)
    })
}

/// The surroundings of a job file on this machine.
pub(crate) struct Around<'a> {
    /// Where included files are looked for first.
    folder: &'a Path,
    profile: &'a Profile,
}

impl<'a> Around<'a> {
    pub(crate) fn new(job_file: &'a str, profile: &'a Profile) -> Around<'a> {
        let folder = Path::new(job_file).parent();
        Around {
            folder: folder.unwrap_or(Path::new("")),
            profile,
        }
    }
}

impl Surroundings for Around<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn read(&self, path: &str) -> io::Result<String> {
        let beside = self.folder.join(path);
        read_text(if beside.exists() {
            beside.as_path()
        } else {
            Path::new(path)
        })
    }

    fn capacity_bytes(&self) -> Option<u64> {
        // What is wrong with a profile is told where it runs.
        capacity_bytes(self.profile).ok()
    }

    fn zone_bytes(&self) -> Option<u64> {
        self.profile.zone_bytes()
    }
}
