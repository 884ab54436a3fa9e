//! Measured cells as CSV: comment lines with `#`, a line of column names, then rows. An empty field was not measured.
//! What cannot be read is named by file, line and column, with the remedy.

use std::path::Path;

use meldsim_stats::csv_fields;

/// A file of measured rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name: `waf_by_fill.csv`.
    pub file: String,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// A row, with the names of its columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub(super) file: String,
    /// Its line in the file, from 1.
    pub line: u64,
    fields: Vec<(String, String)>,
}

impl Table {
    /// A table without rows, which [`Table::push`] adds.
    pub fn new(file: &str) -> Table {
        Table {
            file: file.to_owned(),
            rows: Vec::new(),
        }
    }

    /// Adds a row of names and fields. What an error names as its line is the row, from 1.
    pub fn push(&mut self, fields: Vec<(String, String)>) {
        self.rows.push(Row {
            file: self.file.clone(),
            line: self.rows.len() as u64 + 1,
            fields,
        });
    }

    /// Reads the text of a file.
    pub fn parse(file: &str, text: &str) -> Result<Table, String> {
        let mut lines = (1..).zip(text.lines());
        let mut lines = lines.by_ref().filter(|(_, line)| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#')
        });
        let Some((line, names)) = lines.next() else {
            return Err(format!(
                "{file}: has no line of column names; write one above the rows"
            ));
        };
        let fields_of = |line: u64, text: &str| {
            let fields = csv_fields(text);
            fields.ok_or_else(|| format!("{file}:{line}: has a quote that is not closed; close it"))
        };
        let names = fields_of(line, names)?;
        let mut rows = Vec::new();
        for (line, text) in lines {
            let fields = fields_of(line, text)?;
            if fields.len() != names.len() {
                return Err(format!(
                    "{file}:{line}: has {} fields for {} columns; write one for each, empty where nothing was measured",
                    fields.len(),
                    names.len()
                ));
            }
            rows.push(Row {
                file: file.to_owned(),
                line,
                fields: names.iter().cloned().zip(fields).collect(),
            });
        }
        Ok(Table {
            file: file.to_owned(),
            rows,
        })
    }

    /// Reads a file; `None` when it is not there.
    pub fn read(path: &Path) -> Result<Option<Table>, String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match std::fs::read_to_string(path) {
            Ok(text) => Table::parse(&name, &text).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!(
                "{}: cannot be read: {error}; give a folder of readable CSV files",
                path.display()
            )),
        }
    }
}

impl Row {
    /// The field of a column; empty when nothing was measured.
    pub fn text(&self, column: &str) -> Result<&str, String> {
        let field = self.fields.iter().find(|(name, _)| name == column);
        field.map(|(_, text)| text.trim()).ok_or_else(|| {
            format!(
                "{}:{}: {column}: there is no such column; add it",
                self.file, self.line
            )
        })
    }

    /// The number in a column; `None` when nothing was measured, or there is no such column.
    pub fn measured(&self, column: &str) -> Result<Option<f64>, String> {
        match self.text(column) {
            Ok("") | Err(_) => Ok(None),
            Ok(text) => self.parse(column, text).map(Some),
        }
    }

    /// The number in a column that says what was done.
    pub fn number(&self, column: &str) -> Result<f64, String> {
        self.parse(column, self.text(column)?)
    }

    /// The whole number in a column that says what was done.
    pub fn count(&self, column: &str) -> Result<u64, String> {
        let number = self.number(column)?;
        match number >= 0.0 && number.fract() == 0.0 && number < 1e18 {
            true => Ok(number as u64),
            false => Err(self.wrong(column, "is not a whole number", "write one such as 4096")),
        }
    }

    fn parse(&self, column: &str, text: &str) -> Result<f64, String> {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| {
            self.wrong(
                column,
                &format!("is \"{text}\", which is not a number"),
                "write one such as 12.5",
            )
        })
    }

    /// What is wrong with a field of this row.
    pub fn wrong(&self, column: &str, what: &str, remedy: &str) -> String {
        format!("{}:{}: {column}: {what}; {remedy}", self.file, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a comment\nname,us\n\"a, b\",1.5\nc,\n";

    #[test]
    fn rows_have_their_lines_and_fields() {
        let table = Table::parse("x.csv", TEXT).unwrap();
        let [first, second] = table.rows.as_slice() else {
            panic!("{table:?}");
        };
        assert_eq!((first.line, second.line), (3, 4));
        assert_eq!(first.text("name"), Ok("a, b"));
        assert_eq!(first.measured("us"), Ok(Some(1.5)));
        assert_eq!(second.measured("us"), Ok(None));
        assert_eq!(second.measured("other"), Ok(None));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_remedy() {
        let error = |text: &str| Table::parse("x.csv", text).unwrap_err();
        assert!(error("# only\n").starts_with("x.csv: has no line of column names; write"));
        assert!(error("a,b\n1\n").starts_with("x.csv:2: has 1 fields for 2 columns; write"));
        assert!(error("a\n\"1\n").starts_with("x.csv:2: has a quote that is not closed; close"));
        let table = Table::parse("x.csv", "a,b\nx,-1\n").unwrap();
        let row = &table.rows[0];
        for (error, said) in [
            (
                row.measured("a").unwrap_err(),
                "x.csv:2: a: is \"x\", which is not a number; write",
            ),
            (
                row.count("b").unwrap_err(),
                "x.csv:2: b: is not a whole number; write",
            ),
            (
                row.number("c").unwrap_err(),
                "x.csv:2: c: there is no such column; add it",
            ),
        ] {
            assert!(error.starts_with(said), "{error}");
        }
    }
}
