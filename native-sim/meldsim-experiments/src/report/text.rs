//! Text for people and programs: numbers with units, tables with aligned columns, fields of CSV.

use std::fmt;

use super::svg::escape;
use meldsim::engine::Duration;

/// `4 KiB`, `1.5 GiB`: three to four significant digits, whole when exact.
pub fn bytes(bytes: u64) -> String {
    let units = [
        (1u64 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1 << 20, "MiB"),
        (1 << 10, "KiB"),
    ];
    match units.iter().find(|(factor, _)| bytes >= *factor) {
        Some((factor, unit)) if bytes % factor == 0 => format!("{} {unit}", bytes / factor),
        Some((factor, unit)) => format!("{} {unit}", short(bytes as f64 / *factor as f64)),
        None => format!("{bytes} B"),
    }
}

/// `63.0 us`, `44.5 ms`.
pub fn duration(time: Duration) -> String {
    let ps = time.as_ps() as f64;
    let units = [(1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns")];
    match units.iter().find(|(factor, _)| ps >= *factor) {
        Some((factor, unit)) => format!("{} {unit}", short(ps / factor)),
        None => format!("{} ps", time.as_ps()),
    }
}

/// `2879.9 MiB/s`.
pub fn rate_mib_s(rate_mib_s: f64) -> String {
    format!("{rate_mib_s:.1} MiB/s")
}

/// `65536`, `316.2 k`, `1.25 M`.
pub fn count(count: f64) -> String {
    match count {
        c if c >= 1e9 => format!("{} G", short(c / 1e9)),
        c if c >= 1e6 => format!("{} M", short(c / 1e6)),
        c if c >= 1e4 => format!("{} k", short(c / 1e3)),
        c if c.fract() == 0.0 => format!("{c}"),
        c => short(c),
    }
}

/// `43.1 %` of `part` in `whole`, `-` of nothing.
pub fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 {
        format!("{:.1} %", 100.0 * part / whole)
    } else {
        "-".to_owned()
    }
}

/// `part` in percent of `whole`, 0 of nothing.
pub fn percent_of(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        whole => 100.0 * part as f64 / whole as f64,
    }
}

/// Longer texts take several rows of a page's table.
const LONG_CELL: usize = 30;

fn short(value: f64) -> String {
    match value {
        v if v >= 1000.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

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
    aligns: Vec<Align>,
    /// The header is the first.
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Table {
        let columns = columns
            .into_iter()
            .map(|(name, align)| (name.into(), align));
        let (header, aligns) = columns.unzip();
        Table {
            aligns,
            rows: vec![header],
        }
    }

    /// Adds a row; missing cells stay empty, surplus ones are dropped.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.aligns.len(), String::new());
        self.rows.push(row);
    }

    /// The table as an HTML element.
    pub fn to_html(&self) -> String {
        let mut html = "<table>\n".to_owned();
        for (index, row) in self.rows.iter().enumerate() {
            let element = if index == 0 { "th" } else { "td" };
            html += "<tr>";
            for (cell, align) in row.iter().zip(&self.aligns) {
                let class = match align {
                    Align::Left if cell.chars().count() > LONG_CELL => " class=\"wrap\"",
                    Align::Left => "",
                    Align::Right => " class=\"right\"",
                };
                html += &format!("<{element}{class}>{}</{element}>", escape(cell));
            }
            html += "</tr>\n";
        }
        html + "</table>"
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| self.rows.iter().map(move |row| row[column].chars().count());
        let columns = 0..self.aligns.len();
        let widths: Vec<usize> = columns.map(|at| width(at).max().unwrap_or(0)).collect();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).zip(&self.aligns);
            let cells = cells.map(|((cell, &width), align)| match align {
                Align::Left => format!("{cell:width$}"),
                Align::Right => format!("{cell:>width$}"),
            });
            let line = cells.collect::<Vec<String>>().join("  ");
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// CSV (RFC 4180): the header, then a line for each row.
pub fn csv(header: &str, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let rows = rows.into_iter().map(|row| row.join(","));
    let lines: Vec<String> = std::iter::once(header.to_owned()).chain(rows).collect();
    lines.join("\n") + "\n"
}

/// A text as a field of CSV, quoted when it must be.
pub fn csv_text(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A number as a field of CSV, with up to six decimals.
pub fn csv_number(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_well() {
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(4096), "4 KiB");
        assert_eq!(bytes(3 << 29), "1.50 GiB");
        assert_eq!(duration(Duration::from_ps(63_024_313)), "63.0 us");
        assert_eq!(duration(Duration::from_ps(7)), "7 ps");
        assert_eq!(count(65_536.0), "65.5 k");
        assert_eq!(count(99.0), "99");
        assert_eq!(percent(1.0, 0.0), "-");
        assert_eq!(percent(1.0, 3.0), "33.3 %");
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::new([("size", Align::Right), ("name", Align::Left)]);
        table.row(["4 KiB", "µ"]);
        table.row(["128 MiB"]);
        assert_eq!(table.to_string(), "   size  name\n  4 KiB  µ\n128 MiB\n");
    }

    #[test]
    fn fields_are_quoted_when_they_must_be() {
        assert_eq!(csv_text("scan"), "scan");
        assert_eq!(csv_text("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(csv_number(1.5), "1.5");
        assert_eq!(csv_number(200.0), "200");
    }
}
