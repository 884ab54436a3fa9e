//! What is wrong with a trace, and where.

use thiserror::Error;

/// What is wrong with a trace: the file, the line, the field, the remedy.
#[derive(Debug, Error)]
pub enum TraceError {
    /// A line that cannot be used.
    #[error("{file}:{line}: {field}: {message}; {remedy}")]
    Line {
        /// The file's name as the caller knows it.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The field, in the format's words.
        field: &'static str,
        /// What was found.
        message: String,
        /// What to do.
        remedy: String,
    },
    /// The trace cannot be read on.
    #[error("{file}:{line}: cannot be read: {error}; the trace may be cut off or damaged")]
    Read {
        /// The file's name as the caller knows it.
        file: String,
        /// The line, from 1.
        line: u64,
        /// Why.
        error: std::io::Error,
    },
}

/// What is wrong with a line, before it is known which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) field: &'static str,
    pub(super) message: String,
    pub(super) remedy: String,
}

impl Fault {
    pub(super) fn new(
        field: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Fault {
        Fault {
            field,
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    pub(super) fn at(self, file: &str, line: u64) -> TraceError {
        TraceError::Line {
            file: file.to_owned(),
            line,
            field: self.field,
            message: self.message,
            remedy: self.remedy,
        }
    }
}
