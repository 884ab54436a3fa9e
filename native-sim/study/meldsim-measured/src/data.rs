//! The files of measured rows: those that come with the project, or those of a folder.

use std::path::Path;

use super::csv::{Row, Table};
use super::task::LeftOut;

macro_rules! own {
    ($($name:literal)*) => {
        [$((concat!($name, ".csv"), include_str!(concat!("../data/drives/", $name, ".csv")))),*]
    };
}

/// Those that the profiles were fitted to, in part.
const OWN: [(&str, &str); 12] = own! {
    "read_latency_by_depth" "write_latency_by_depth" "latency_by_offered_rate" "mixed_read_write"
    "steady_random_writes" "waf_by_fill" "init_series" "zone_overwrite" "waf_permutation_profile"
    "sequential_write" "zns_mgmt_latency" "zns_interference"
};

/// Their names.
pub fn files() -> impl Iterator<Item = &'static str> {
    OWN.iter().map(|(file, _)| *file)
}

/// Files that are not simulated, by name, with the reason.
const NOT_SIMULATED: [(&str, &str); 2] = [
    ("drives.csv", "facts, no measurements"),
    (
        "waf_fdp.csv",
        "rows of one stream are means of waf_permutation_profile, and the others need a cache's trace, which is not there",
    ),
];

/// These, as what is left out.
pub(super) fn not_simulated() -> impl Iterator<Item = LeftOut> {
    let files = NOT_SIMULATED.into_iter();
    files.map(|(file, reason)| LeftOut::all(file, reason))
}

/// The tables of a folder, or the own ones.
pub fn tables(folder: Option<&Path>) -> Result<Vec<Table>, String> {
    let Some(folder) = folder else {
        return OWN
            .iter()
            .map(|(file, text)| Table::parse(file, text))
            .collect();
    };
    let mut tables = Vec::new();
    for (file, _) in OWN {
        tables.extend(Table::read(&folder.join(file))?);
    }
    match tables.is_empty() {
        false => Ok(tables),
        true => Err(format!(
            "{}: has none of the files {}; give a folder with one of them",
            folder.display(),
            OWN.map(|(file, _)| file).join(", ")
        )),
    }
}

/// The rows of that file; none without it.
pub fn rows<'a>(tables: &'a [Table], file: &str) -> &'a [Row] {
    of(tables, file).map_or(&[], |table| &table.rows)
}

/// The table of that file.
pub(super) fn of<'a>(tables: &'a [Table], file: &str) -> Option<&'a Table> {
    tables.iter().find(|table| table.file == file)
}
