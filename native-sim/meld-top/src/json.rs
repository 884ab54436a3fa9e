//! The usage for scripts. Fields may be added; those that are there keep their meaning.

use anyhow::Result;
use serde::Serialize;

use crate::usage::Usage;

/// Of the whole object; raised when a field changes its meaning or goes.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Whole<'a> {
    schema_version: u32,
    #[serde(flatten)]
    usage: &'a Usage,
}

pub(crate) fn of(usage: &Usage) -> Result<String> {
    let whole = Whole {
        schema_version: SCHEMA_VERSION,
        usage,
    };
    Ok(serde_json::to_string_pretty(&whole)?)
}
