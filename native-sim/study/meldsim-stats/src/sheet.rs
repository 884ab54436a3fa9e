//! Sheets: named columns of typed cells, shown as a text table, CSV, JSON or HTML.

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::text::{Align, Table, bytes, csv};

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

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl<C: Into<Cell>> From<Option<C>> for Cell {
    fn from(cell: Option<C>) -> Cell {
        cell.map_or(Cell::Missing, C::into)
    }
}

/// Rows under named columns. Keys end in their units.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// The sheet's key within its outcome.
    pub name: &'static str,
    /// Whether text leaves it out and pages fold it: it is long.
    pub is_detail: bool,
    /// For each column its key for programs and its heading for people.
    columns: Vec<(&'static str, &'static str)>,
    rows: Vec<Vec<Cell>>,
}

/// A sheet with a row for each of these, to which columns are added.
pub struct Columns<'a, R> {
    of: &'a [R],
    sheet: Sheet,
}

/// A column has a key for programs, a heading for people, and a cell for each row.
impl<R> Columns<'_, R> {
    /// A column of any cells.
    pub fn cell<C: Into<Cell>>(
        mut self,
        key: &'static str,
        heading: &'static str,
        cell: impl Fn(&R) -> C,
    ) -> Self {
        self.sheet.columns.push((key, heading));
        for (row, of) in self.sheet.rows.iter_mut().zip(self.of) {
            row.push(cell(of).into());
        }
        self
    }

    /// A size in bytes.
    pub fn bytes(
        self,
        key: &'static str,
        heading: &'static str,
        bytes: impl Fn(&R) -> u64,
    ) -> Self {
        self.cell(key, heading, |row| Cell::Bytes(bytes(row)))
    }

    /// A whole number, where there is one.
    pub fn count<N: Into<Option<u64>>>(
        self,
        key: &'static str,
        heading: &'static str,
        count: impl Fn(&R) -> N,
    ) -> Self {
        let cell = |count: Option<u64>| count.map_or(Cell::Missing, Cell::Count);
        self.cell(key, heading, |row| cell(count(row).into()))
    }

    /// A number, where there is one and it is finite, of which people see so many digits after the point.
    pub fn number<N: Into<Option<f64>>>(
        self,
        key: &'static str,
        heading: &'static str,
        digits: usize,
        number: impl Fn(&R) -> N,
    ) -> Self {
        self.cell(key, heading, |row| {
            let number: Option<f64> = number(row).into();
            let number = number.filter(|number| number.is_finite());
            number.map(|number| Cell::Number(number, digits))
        })
    }

    /// Text leaves the sheet out and pages fold it.
    pub fn detail(mut self) -> Self {
        self.sheet.is_detail = true;
        self
    }
}

impl<R> From<Columns<'_, R>> for Sheet {
    fn from(columns: Columns<'_, R>) -> Sheet {
        columns.sheet
    }
}

impl Sheet {
    /// A sheet with a row for each of these, without columns yet.
    pub fn of<'a, R>(name: &'static str, rows: &'a [R]) -> Columns<'a, R> {
        Columns {
            of: rows,
            sheet: Sheet {
                name,
                is_detail: false,
                columns: Vec::new(),
                rows: rows.iter().map(|_| Vec::new()).collect(),
            },
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
        let fields = |row: &Vec<Cell>| row.iter().map(Cell::for_csv).collect();
        csv(&keys.join(","), self.rows.iter().map(fields))
    }
}

/// One row with its keys.
struct SheetRow<'a>(&'a Sheet, &'a [Cell]);

impl Serialize for SheetRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SheetRow(sheet, cells) = self;
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
            rows.serialize_element(&SheetRow(self, row))?;
        }
        rows.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let rows = [
            ("a, \"b\"", Cell::Bytes(4096), Some(1.25)),
            ("c", Cell::Count(7), None),
            ("d", Cell::Missing, Some(f64::NAN)),
        ];
        Sheet::of("s", &rows)
            .cell("name", "name", |row| row.0)
            .cell("size_bytes", "size", |row| row.1.clone())
            .number("gain", "x", 1, |row| row.2)
            .into()
    }

    #[test]
    fn people_see_units_and_programs_numbers() {
        assert_eq!(
            sheet().to_table().to_string(),
            "name     size    x\na, \"b\"  4 KiB  1.2\nc           7    -\nd           -    -\n"
        );
        assert_eq!(
            sheet().to_csv(),
            "name,size_bytes,gain\n\"a, \"\"b\"\"\",4096,1.25\nc,7,\nd,,\n"
        );
        let json = serde_json::to_string(&sheet()).unwrap();
        assert_eq!(
            json,
            r#"[{"name":"a, \"b\"","size_bytes":4096,"gain":1.25},{"name":"c","size_bytes":7,"gain":null},{"name":"d","size_bytes":null,"gain":null}]"#
        );
    }
}
