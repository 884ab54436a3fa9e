//! The file of a sweep: a head, the rows in the order of the cells, and an end. At any time it holds the beginning of what it
//! will be, so what is there need not be run again.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};

use super::row::{Columns, Row};
use crate::error::BadInput;

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Csv,
    Json,
}

/// What stands before the first row of JSON.
const ROWS: &str = "\"rows\": [\n";

impl Form {
    /// That of a file, by its name.
    pub(super) fn of(path: &str) -> Form {
        match path.ends_with(".json") {
            true => Form::Json,
            false => Form::Csv,
        }
    }

    /// What stands before the rows; `about` is an object of JSON.
    pub(super) fn head(self, columns: &Columns, about: &str) -> String {
        let keys = about.trim_end().trim_end_matches('}').trim_end();
        match self {
            Form::Csv => columns.csv_header(),
            Form::Json => format!("{keys},\n  {ROWS}"),
        }
    }

    pub(super) fn line(self, columns: &Columns, row: &Row, is_first: bool) -> String {
        match (self, is_first) {
            (Form::Csv, _) => columns.to_csv(row),
            (Form::Json, true) => columns.to_json(row),
            (Form::Json, false) => format!(",\n{}", columns.to_json(row)),
        }
    }

    pub(super) const fn end(self) -> &'static str {
        match self {
            Form::Csv => "",
            Form::Json => "\n]\n}\n",
        }
    }

    /// The whole rows that a text begins with, and how long they are; nothing where the columns are others.
    fn read(self, columns: &Columns, text: &str) -> Option<(Vec<Row>, usize)> {
        let mut rows = Vec::new();
        let mut end = match self {
            Form::Csv => text.len() - text.strip_prefix(&*columns.csv_header())?.len(),
            Form::Json => text.find(ROWS)? + ROWS.len(),
        };
        match self {
            Form::Csv => {
                while let Some((line, _)) = text[end..].split_once('\n') {
                    rows.push(columns.read_csv(line)?);
                    end += line.len() + 1;
                }
            }
            Form::Json => {
                for line in text[end..].lines() {
                    let object = line.strip_suffix(',').unwrap_or(line);
                    let Some(row) = columns.read_json(object) else {
                        break;
                    };
                    // The newline after the row before is of the next one.
                    end += object.len() + if rows.is_empty() { 0 } else { 2 };
                    rows.push(row);
                }
            }
        }
        Some((rows, end))
    }
}

/// Writes rows in the order of the cells, whenever they come.
pub(super) struct Store<'a> {
    form: Form,
    columns: &'a Columns,
    /// Of the file; empty where there is none.
    path: &'a str,
    head: String,
    /// Of the file, what is kept.
    known_bytes: u64,
    file: Option<File>,
    /// The next cell to be written.
    next: usize,
    /// Of later ones, those that are there.
    waiting: BTreeMap<usize, Row>,
    /// All that were written.
    pub(super) rows: Vec<Row>,
}

impl<'a> Store<'a> {
    /// Rows that are kept, in no file.
    pub(super) fn without_file(columns: &'a Columns) -> Store<'a> {
        Store {
            form: Form::Csv,
            columns,
            path: "",
            head: String::new(),
            known_bytes: 0,
            file: None,
            next: 0,
            waiting: BTreeMap::new(),
            rows: Vec::new(),
        }
    }

    /// Reads the rows that a file has, if it is there. It stays as it is until [`Store::begin`].
    pub(super) fn read(
        path: &'a str,
        columns: &'a Columns,
        about: &str,
    ) -> Result<Store<'a>, BadInput> {
        let form = Form::of(path);
        let head = form.head(columns, about);
        let text = match std::fs::read(path) {
            Ok(bytes) => String::from_utf8(bytes).map_err(|_| other(path))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(unwritable(path, &error)),
        };
        // One that was broken off in its head has no row.
        let has_head = match form {
            Form::Csv => text.contains('\n'),
            Form::Json => text.contains(ROWS),
        };
        let (rows, end) = match has_head {
            true => form.read(columns, &text).ok_or_else(|| other(path))?,
            false if head.starts_with(&text) => (Vec::new(), 0),
            false => return Err(other(path)),
        };
        Ok(Store {
            form,
            head,
            path,
            known_bytes: end as u64,
            next: rows.len(),
            rows,
            ..Store::without_file(columns)
        })
    }

    /// Opens the file, if there is to be one, at the end of its whole rows.
    pub(super) fn begin(&mut self) -> Result<(), BadInput> {
        if self.path.is_empty() {
            return Ok(());
        }
        let begin = || {
            let mut options = OpenOptions::new();
            let mut file = options
                .write(true)
                .create(true)
                .truncate(false)
                .open(self.path)?;
            file.set_len(self.known_bytes)?;
            file.seek(SeekFrom::End(0))?;
            if self.known_bytes == 0 {
                file.write_all(self.head.as_bytes())?;
            }
            Ok(file)
        };
        self.file = Some(begin().map_err(|error| unwritable(self.path, &error))?);
        Ok(())
    }

    /// Takes the row of a cell, and writes all whose turn it is.
    pub(super) fn add(&mut self, cell: usize, row: Row) -> io::Result<()> {
        self.waiting.insert(cell, row);
        while let Some(row) = self.waiting.remove(&self.next) {
            if let Some(file) = &mut self.file {
                let line = self.form.line(self.columns, &row, self.next == 0);
                file.write_all(line.as_bytes())?;
            }
            self.rows.push(row);
            self.next += 1;
        }
        Ok(())
    }

    /// Writes the end.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        match &mut self.file {
            Some(file) => file.write_all(self.form.end().as_bytes()),
            None => Ok(()),
        }
    }
}

fn unwritable(path: &str, error: &io::Error) -> BadInput {
    BadInput(format!(
        "--out: cannot write \"{path}\": {error}; give a path that can be written"
    ))
}

/// A file that has something else.
pub(super) fn other(path: &str) -> BadInput {
    BadInput(format!(
        "--out: {path} does not begin as the rows of this sweep do: it is of other axes, another workload, profile or version; \
         remove it, or give another path"
    ))
}
