//! What a calibration begins with: cells that were measured, and what the user knows of the drive.

use serde::{Deserialize, Serialize};

use super::finding::Finding;
use super::fio::{self, IdleRead};
use meldsim_measured::{Table, distinct, files};

/// Measured cells and what is known of the drive. It is all that a machine needs that simulates a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The drive: the profile's name, and in files of several drives the one whose rows are read.
    pub drive: String,
    /// Names and texts of CSV files in the formats of `real-drives`.
    #[serde(default)]
    pub tables: Vec<(String, String)>,
    /// Names and texts of files that fio wrote with `--output-format=json+`.
    #[serde(default)]
    pub fio: Vec<(String, String)>,
    /// Bytes that the host sees; nothing: as the folder of fio's files says.
    #[serde(default)]
    pub capacity_bytes: Option<u64>,
    /// Bytes to flash for each that host or collection writes: parity and metadata. 1 where nothing is known.
    #[serde(default = "one")]
    pub overhead: f64,
    /// What is known: `KEY=VALUE` each, as of a profile.
    #[serde(default)]
    pub given: Vec<String>,
    /// Of the places from which the search starts beside the reckoned one.
    #[serde(default)]
    pub seed: u64,
    /// Whether as much is simulated as in the experiment `real-drives`; otherwise a part.
    #[serde(default)]
    pub full: bool,
}

fn one() -> f64 {
    1.0
}

/// The capacity that `drive.json` has, which the script writes beside what fio does; nothing of what fio wrote.
fn about(text: &str) -> Option<u64> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    match value.get("jobs") {
        Some(_) => None,
        None => value.get("capacity_bytes")?.as_u64(),
    }
}

/// What was read.
pub(super) struct Measured {
    pub(super) capacity_bytes: u64,
    pub(super) tables: Vec<Table>,
    /// What was noticed while reading.
    pub(super) notes: Vec<Finding>,
    /// Reads after a pause.
    pub(super) idle: Vec<IdleRead>,
}

impl Request {
    /// The rows of the drive.
    pub(super) fn read(&self) -> Result<Measured, String> {
        let mut runs = Vec::new();
        let mut stated = None;
        for (file, text) in &self.fio {
            match about(text) {
                Some(bytes) => stated = stated.or(Some(bytes)),
                None => runs.push((file.clone(), text.clone())),
            }
        }
        let capacity_bytes = self.capacity_bytes.or(stated).unwrap_or(0);
        if capacity_bytes < 1 << 30 {
            return Err(format!(
                "capacity: is {capacity_bytes} B; give the bytes that the host sees, 1 GiB or more, as blockdev --getsize64 prints them"
            ));
        }
        if !(1.0..=2.0).contains(&self.overhead) {
            return Err(format!(
                "overhead: is {}; give bytes to flash for each byte, from 1 to 2",
                self.overhead
            ));
        }
        let mut tables = Vec::new();
        for (file, text) in &self.tables {
            if files().any(|known| known == file) {
                tables.push(Table::parse(file, text)?);
            }
        }
        if tables.is_empty() && self.fio.is_empty() {
            return Err(format!(
                "no measured cells: give one of the files {}, or what fio wrote",
                files().collect::<Vec<_>>().join(", ")
            ));
        }
        self.only_own(&mut tables)?;
        let of_fio = fio::tables(&runs, &self.drive, Some(capacity_bytes))?;
        for table in of_fio.tables {
            match tables.iter_mut().find(|known| known.file == table.file) {
                Some(known) => known.rows.extend(table.rows),
                None => tables.push(table),
            }
        }
        let notes = of_fio.notes.into_iter().map(Finding::left_out);
        Ok(Measured {
            capacity_bytes,
            tables,
            notes: notes.collect(),
            idle: of_fio.idle,
        })
    }

    /// Bytes that the host sees, once it is known.
    pub(super) fn capacity(&self) -> u64 {
        self.capacity_bytes.unwrap_or(0)
    }

    /// Whether the user gives a key of the profile.
    pub(super) fn gives_key(&self, name: &str) -> bool {
        let mut keys = self.given.iter().map(|text| text.split('=').next());
        keys.any(|key| key.unwrap_or_default().trim() == name)
    }

    /// Leaves the rows of this drive. Files of one drive are read whatever they call it.
    fn only_own(&self, tables: &mut Vec<Table>) -> Result<(), String> {
        let rows = tables.iter().flat_map(|table| &table.rows);
        let names: Result<Vec<&str>, String> = rows.map(|row| row.text("drive")).collect();
        let names = distinct(names?);
        if names.len() < 2 {
            return Ok(());
        }
        if !names.contains(&self.drive.as_str()) {
            return Err(format!(
                "drive: \"{}\" has no rows; name one of {}",
                self.drive,
                names.join(", ")
            ));
        }
        for table in tables.iter_mut() {
            table
                .rows
                .retain(|row| row.text("drive") == Ok(self.drive.as_str()));
        }
        tables.retain(|table| !table.rows.is_empty());
        Ok(())
    }
}
