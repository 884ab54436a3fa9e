//! Sheets: named columns of typed cells, shown as a text table, CSV, JSON or HTML.

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::report::{Align, Table, bytes};

/// One value of a sheet.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A name.
    Text(String),
    /// A size in bytes: a number to programs, with its unit to people.
    Bytes(u64),
    /// A whole number.
    Count(u64),
    /// A number that people see with so many digits after the point; programs see all of them.
    Number(f64, usize),
    /// Nothing was measured or published.
    Missing,
}

impl Cell {
    /// A name.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    fn for_people(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Bytes(size) => bytes(*size),
            Cell::Count(count) => count.to_string(),
            Cell::Number(number, digits) => format!("{number:.digits$}"),
            Cell::Missing => "-".to_owned(),
        }
    }

    /// As a field of CSV (RFC 4180).
    fn for_csv(&self) -> String {
        match self {
            Cell::Text(text) if text.contains([',', '"', '\n']) => {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
            Cell::Text(text) => text.clone(),
            Cell::Bytes(number) | Cell::Count(number) => number.to_string(),
            Cell::Number(number, _) => number.to_string(),
            Cell::Missing => String::new(),
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Text(text) => serializer.serialize_str(text),
            Cell::Bytes(number) | Cell::Count(number) => serializer.serialize_u64(*number),
            Cell::Number(number, _) => serializer.serialize_f64(*number),
            Cell::Missing => serializer.serialize_none(),
        }
    }
}

/// A column: its key for programs and its heading for people.
pub type Column = (&'static str, &'static str);

/// Rows under named columns. Keys end in their units.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// The sheet's key within its report.
    pub name: &'static str,
    /// Whether text leaves it out and pages fold it: it is long.
    pub is_detail: bool,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Sheet {
    /// An empty sheet.
    pub fn new(name: &'static str, columns: &'static [Column]) -> Sheet {
        Sheet {
            name,
            is_detail: false,
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// With more columns, on the right of those before.
    pub fn with(mut self, columns: &'static [Column]) -> Sheet {
        self.columns.extend_from_slice(columns);
        self
    }

    /// An empty sheet that text leaves out and pages fold.
    pub fn detail(name: &'static str, columns: &'static [Column]) -> Sheet {
        Sheet {
            is_detail: true,
            ..Sheet::new(name, columns)
        }
    }

    /// How many rows it has.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row; a column without a cell is missing.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let mut row: Vec<Cell> = cells.into_iter().collect();
        debug_assert!(
            row.len() <= self.columns.len(),
            "{}: surplus cell",
            self.name
        );
        row.resize(self.columns.len(), Cell::Missing);
        self.rows.push(row);
    }

    /// The sheet as a text table; names are on the left, numbers on the right.
    pub fn to_table(&self) -> Table {
        let align = |column: usize| match self.rows.first().map(|row| &row[column]) {
            Some(Cell::Text(_)) => Align::Left,
            _ => Align::Right,
        };
        let columns = self.columns.iter().enumerate();
        let mut table = Table::new(columns.map(|(column, (_, heading))| (*heading, align(column))));
        for row in &self.rows {
            table.row(row.iter().map(Cell::for_people));
        }
        table
    }

    /// The sheet as CSV: the keys, then a line for each row.
    pub fn to_csv(&self) -> String {
        let keys: Vec<&str> = self.columns.iter().map(|(key, _)| *key).collect();
        let mut text = keys.join(",") + "\n";
        for row in &self.rows {
            let fields: Vec<String> = row.iter().map(Cell::for_csv).collect();
            text += &fields.join(",");
            text.push('\n');
        }
        text
    }
}

/// One row with its keys.
struct Row<'a>(&'a Sheet, &'a [Cell]);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Row(sheet, cells) = self;
        let mut map = serializer.serialize_map(Some(cells.len()))?;
        for ((key, _), cell) in sheet.columns.iter().zip(*cells) {
            map.serialize_entry(key, cell)?;
        }
        map.end()
    }
}

impl Serialize for Sheet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.rows.len()))?;
        for row in &self.rows {
            rows.serialize_element(&Row(self, row))?;
        }
        rows.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let mut sheet = Sheet::new(
            "s",
            &[("name", "name"), ("size_bytes", "size"), ("gain", "x")],
        );
        sheet.row([
            Cell::text("a, \"b\""),
            Cell::Bytes(4096),
            Cell::Number(1.25, 1),
        ]);
        sheet.row([Cell::text("c"), Cell::Count(7)]);
        sheet
    }

    #[test]
    fn people_see_units_and_programs_numbers() {
        assert_eq!(
            sheet().to_table().to_string(),
            "name     size    x\na, \"b\"  4 KiB  1.2\nc           7    -\n"
        );
        assert_eq!(
            sheet().to_csv(),
            "name,size_bytes,gain\n\"a, \"\"b\"\"\",4096,1.25\nc,7,\n"
        );
        let json = serde_json::to_string(&sheet()).unwrap();
        assert_eq!(
            json,
            r#"[{"name":"a, \"b\"","size_bytes":4096,"gain":1.25},{"name":"c","size_bytes":7,"gain":null}]"#
        );
    }
}
