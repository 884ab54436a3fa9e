//! Text tables with aligned columns.

use std::fmt;

use super::svg::escape;

/// On which side a column's cells are padded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Rows under a header, separated by two spaces.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Table {
        Table {
            columns: columns
                .into_iter()
                .map(|(name, align)| (name.into(), align))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells stay empty, surplus ones are dropped.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    /// The table as an HTML element.
    pub fn to_html(&self) -> String {
        let row = |element: &str, cells: &mut dyn Iterator<Item = &str>| {
            let mut html = "<tr>".to_owned();
            for (cell, (_, align)) in cells.zip(&self.columns) {
                let class = match align {
                    Align::Left => "",
                    Align::Right => " class=\"right\"",
                };
                html += &format!("<{element}{class}>{}</{element}>", escape(cell));
            }
            html + "</tr>\n"
        };
        let mut html = "<table>\n".to_owned();
        html += &row(
            "th",
            &mut self.columns.iter().map(|(name, _)| name.as_str()),
        );
        for cells in &self.rows {
            html += &row("td", &mut cells.iter().map(String::as_str));
        }
        html + "</table>"
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let width_of = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].chars().count());
            cells
                .chain([header[column].chars().count()])
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..header.len()).map(width_of).collect();
        let mut line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut text = String::new();
            for ((cell, width), (_, align)) in cells.zip(&widths).zip(&self.columns) {
                let padding = " ".repeat(width - cell.chars().count());
                let gap = if text.is_empty() { "" } else { "  " };
                text += &match align {
                    Align::Left => format!("{gap}{cell}{padding}"),
                    Align::Right => format!("{gap}{padding}{cell}"),
                };
            }
            writeln!(f, "{}", text.trim_end())
        };
        line(&mut header.iter().copied())?;
        for row in &self.rows {
            line(&mut row.iter().map(String::as_str))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new([("size", Align::Right), ("name", Align::Left)]);
        table.row(["4 KiB", "µ"]);
        table.row(["128 MiB"]);
        assert_eq!(table.to_string(), "   size  name\n  4 KiB  µ\n128 MiB\n");
    }
}
