//! Text for people and programs: numbers with units, tables with aligned columns, fields of CSV.

use std::fmt;

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

/// `12 flushes, 3 trims`: the counts that are not 0, each with what it counts.
pub fn clauses(counts: &[(u64, &str)]) -> String {
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let clauses: Vec<String> = counts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    clauses.join(", ")
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
pub fn percent_of(part: impl Into<u128>, whole: impl Into<u128>) -> f64 {
    let (part, whole) = (part.into(), whole.into());
    match whole {
        0 => 0.0,
        whole => 100.0 * part as f64 / whole as f64,
    }
}

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

/// Narrowest column into which text is broken.
const NARROW: usize = 16;

/// Rows under a header, separated by two spaces.
#[derive(Clone, Debug)]
pub struct Table {
    aligns: Vec<Align>,
    /// Columns that are left out first where there is little room, by name, `a|b`; the others from the right.
    least: &'static str,
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
            least: "",
            rows: vec![header],
        }
    }

    /// An empty table with these columns, `<text|number|number`: those with a `<` are padded on the right.
    pub fn of(columns: &str) -> Table {
        let column = |name: &str| match name.strip_prefix('<') {
            Some(name) => (name.to_owned(), Align::Left),
            None => (name.to_owned(), Align::Right),
        };
        Table::new(columns.split('|').map(column))
    }

    /// Names the columns that are left out first where there is little room.
    pub fn with_least(self, least: &'static str) -> Table {
        Table { least, ..self }
    }

    /// Adds a row; missing cells stay empty, surplus ones are dropped.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.aligns.len(), String::new());
        self.rows.push(row);
    }

    /// On which side the cells of each column are padded.
    pub fn aligns(&self) -> &[Align] {
        &self.aligns
    }

    /// The header, then the rows.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }
}

/// As text.
impl Table {
    /// Within so many columns of a terminal: long texts are broken into several lines. If that is not enough, columns of the
    /// table are left out, and a line says which: named ones first, then those that say the same in every row, then from the
    /// right. The first column stays.
    pub fn within(&self, columns: usize) -> String {
        let mut table = self.clone();
        let mut left_out = Vec::new();
        loop {
            if let Some(widths) = table.widths_within(columns) {
                let mut text = table.lines(&widths);
                if !left_out.is_empty() {
                    text += &format!(
                        "columns hidden (terminal too narrow): {}\n",
                        left_out.join(", ")
                    );
                }
                return text;
            }
            left_out.push(table.remove_least());
        }
    }

    /// The widths of the columns, with broken texts if need be; `None` if even so there is no room.
    fn widths_within(&self, columns: usize) -> Option<Vec<usize>> {
        let mut widths = self.widths();
        let gaps = 2 * widths.len().saturating_sub(1);
        let room = columns.saturating_sub(gaps);
        while widths.iter().sum::<usize>() > room {
            let surplus = widths.iter().sum::<usize>() - room;
            // The widest text gives first, down to the next.
            let texts = (0..widths.len()).filter(|&at| self.is_text(at) && widths[at] > NARROW);
            let mut texts: Vec<usize> = texts.collect();
            texts.sort_by_key(|&at| widths[at]);
            let Some(widest) = texts.pop() else {
                return (widths.len() <= 1).then_some(widths);
            };
            let next = texts.last().map_or(NARROW, |&at| widths[at]);
            let least = next.clamp(NARROW, widths[widest] - 1);
            widths[widest] = least.max(widths[widest].saturating_sub(surplus));
        }
        Some(widths)
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| self.rows.iter().map(move |row| row[column].chars().count());
        let columns = 0..self.aligns.len();
        columns.map(|at| width(at).max().unwrap_or(0)).collect()
    }

    fn is_text(&self, column: usize) -> bool {
        self.aligns[column] == Align::Left
    }

    /// Whether a column says the same in every one of several rows.
    fn is_constant(&self, column: usize) -> bool {
        let rows = &self.rows[1..];
        rows.len() > 1 && rows.iter().all(|row| row[column] == rows[0][column])
    }

    /// Takes the column away that matters least; gives its name.
    fn remove_least(&mut self) -> String {
        let header = &self.rows[0];
        let position = |name: &str| header.iter().position(|other| other == name);
        let least = self.least.split('|').find_map(position);
        let constant = || (1..header.len()).find(|&column| self.is_constant(column));
        let column = least.or_else(constant).unwrap_or(header.len() - 1);
        self.aligns.remove(column);
        let removed = self.rows.iter_mut().map(|row| row.remove(column));
        let removed: Vec<String> = removed.collect();
        removed.into_iter().next().unwrap_or_default()
    }

    fn lines(&self, widths: &[usize]) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(widths);
            let cells: Vec<Vec<&str>> = cells.map(|(cell, width)| broken(cell, *width)).collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(1);
            for line in 0..height {
                let cells = cells.iter().zip(widths).zip(&self.aligns);
                let cells = cells.map(|((cell, &width), align)| {
                    let part = cell.get(line).copied().unwrap_or("");
                    match align {
                        Align::Left => format!("{part:width$}"),
                        Align::Right => format!("{part:>width$}"),
                    }
                });
                let line = cells.collect::<Vec<String>>().join("  ");
                text += line.trim_end();
                text.push('\n');
            }
        }
        text
    }
}

/// `text` in lines of at most `width` characters, broken between words; a word that is longer has a line of its own.
fn broken(text: &str, width: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while rest.chars().count() > width {
        let spaces = rest.match_indices(' ').map(|(at, _)| at);
        let fits = |at: &usize| rest[..*at].chars().count() <= width;
        let fitting = spaces.clone().take_while(fits).last();
        let Some(at) = fitting.or_else(|| spaces.clone().next()) else {
            break;
        };
        lines.push(rest[..at].trim_end());
        rest = rest[at..].trim_start();
    }
    lines.push(rest);
    lines
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines(&self.widths()))
    }
}

/// CSV (RFC 4180): the header, then a line for each row.
pub fn csv(header: &str, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let header = header.split(',').map(str::to_owned).collect();
    csv_lines(std::iter::once(header).chain(rows))
}

/// Lines of CSV, in which is quoted what must be.
pub fn csv_lines<R: IntoIterator<Item: AsRef<[u8]>>>(rows: impl IntoIterator<Item = R>) -> String {
    let mut writer = csv::WriterBuilder::new();
    let mut writer = writer.flexible(true).from_writer(Vec::new());
    // Memory takes whatever comes.
    let _ = rows
        .into_iter()
        .try_for_each(|row| writer.write_record(row));
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// The fields of a line of CSV; nothing of one with a quote that is not closed.
pub fn csv_fields(line: &str) -> Option<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.has_headers(false).from_reader(line.as_bytes());
    let record = reader.into_records().next()?.ok()?;
    let is_closed = line.matches('"').count() % 2 == 0;
    is_closed.then(|| record.iter().map(str::to_owned).collect())
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
    fn a_table_fits_by_breaking_texts_and_then_by_leaving_columns_out() {
        let mut table = Table::of("<name|<text|a|b").with_least("a");
        table.row(["scan", "a claim of more words than fit", "1234", "567890"]);
        assert_eq!(table.within(usize::MAX), table.to_string());
        assert_eq!(
            table.within(40),
            "name  text                     a       b\n\
             scan  a claim of more       1234  567890\n      \
                   words than fit\n"
        );
        assert_eq!(
            table.within(31),
            "name  text                    b\n\
             scan  a claim of more    567890\n      \
                   words than fit\n\
             columns hidden (terminal too narrow): a\n"
        );
        for columns in 0..60 {
            let text = table.within(columns);
            let longest = text
                .lines()
                .filter(|line| !line.starts_with("columns hidden"));
            let longest = longest.map(|line| line.chars().count()).max();
            assert!(longest <= Some(columns.max(4)), "{columns}: {text}");
        }
    }

    #[test]
    fn what_is_the_same_in_every_row_is_left_out_before_what_differs() {
        let columns = ["a", "same", "b"].map(|name| (name, Align::Right));
        let mut table = Table::new(columns);
        table.row(["1", "7", "2"]);
        table.row(["1", "7", "3"]);
        let text = table.within(5);
        assert_eq!(
            text,
            "a  b\n1  2\n1  3\ncolumns hidden (terminal too narrow): same\n"
        );
    }

    #[test]
    fn fields_are_quoted_when_they_must_be() {
        let line = csv_lines([["scan", "a,\"b\"", ""]]);
        assert_eq!(line, "scan,\"a,\"\"b\"\"\",\n");
        assert_eq!(csv_fields(&line).unwrap(), ["scan", "a,\"b\"", ""]);
        assert_eq!(csv_fields("a,\"b"), None);
        assert_eq!(csv_number(1.5), "1.5");
        assert_eq!(csv_number(200.0), "200");
    }
}
