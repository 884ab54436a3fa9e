//! The table of devices and one device in detail, for a terminal of 80 columns and more.

use std::collections::{BTreeMap, VecDeque};

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Row, Table, TableState};

use crate::usage::{DeviceUsage, Usage};

/// Looks that a strip shows at most.
const LOOKS: usize = 240;
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];

/// By what devices are sorted. Each but the first is largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sort {
    #[default]
    Name,
    Read,
    Write,
    Busy,
    Waiting,
}

impl Sort {
    pub(crate) fn next(self) -> Sort {
        match self {
            Sort::Name => Sort::Read,
            Sort::Read => Sort::Write,
            Sort::Write => Sort::Busy,
            Sort::Busy => Sort::Waiting,
            Sort::Waiting => Sort::Name,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Sort::Name => "name",
            Sort::Read => "reads",
            Sort::Write => "writes",
            Sort::Busy => "busy dies",
            Sort::Waiting => "waiting readers",
        }
    }

    fn key(self, device: &DeviceUsage) -> f64 {
        match self {
            Sort::Name => 0.0,
            Sort::Read => device.read_mib_s,
            Sort::Write => device.write_mib_s,
            Sort::Busy => device.dies_busy.unwrap_or(0.0),
            Sort::Waiting => device.readers_waiting,
        }
    }
}

/// How busy dies and channels were, the latest look last.
#[derive(Debug, Default)]
struct Strip {
    dies: VecDeque<Option<f64>>,
    channels: VecDeque<Option<f64>>,
}

/// The state that the terminal shows.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    usage: Usage,
    sort: Sort,
    /// The device in detail, by its place in the table.
    chosen: usize,
    /// By DataNode and device.
    strips: BTreeMap<(String, String), Strip>,
}

impl Screen {
    /// Takes what two looks say.
    pub(crate) fn show(&mut self, usage: Usage) {
        for device in &usage.devices {
            let key = (device.datanode.clone(), device.device.clone());
            let strip = self.strips.entry(key).or_default();
            for (looks, busy) in [
                (&mut strip.dies, device.dies_busy),
                (&mut strip.channels, device.channels_busy),
            ] {
                looks.push_back(busy);
                if looks.len() > LOOKS {
                    looks.pop_front();
                }
            }
        }
        self.usage = usage;
        self.arrange();
    }

    /// Sorts by what comes next.
    pub(crate) fn sort_by_next(&mut self) {
        self.sort = self.sort.next();
        self.arrange();
    }

    /// Those that are equal go by name.
    fn arrange(&mut self) {
        self.usage.sort_by_name();
        let sort = self.sort;
        let by_key = |a: &DeviceUsage, b: &DeviceUsage| sort.key(b).total_cmp(&sort.key(a));
        self.usage.devices.sort_by(by_key);
        self.choose(0);
    }

    /// Chooses the device so many rows further down.
    pub(crate) fn choose(&mut self, rows: isize) {
        let last = self.usage.devices.len().saturating_sub(1);
        self.chosen = self.chosen.saturating_add_signed(rows).min(last);
    }

    pub(crate) fn draw(&self, frame: &mut Frame) {
        let troubles = self.usage.troubles.len().min(4) as u16;
        let [title, table, detail, lines, keys] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Min(4),
            Constraint::Length(10),
            Constraint::Length(troubles),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        frame.render_widget(self.title(), title);
        self.draw_table(frame, table);
        if let Some(device) = self.usage.devices.get(self.chosen) {
            let lines = self.detail(device, detail.width.saturating_sub(4));
            let name = format!(" {} at {} ", device.device, device.datanode);
            let block = Block::bordered().title(name);
            frame.render_widget(Paragraph::new(lines).block(block), detail);
        }
        let red = Style::new().fg(Color::Red);
        let troubles = self.usage.troubles.iter();
        let troubles = troubles.map(|trouble| Line::styled(trouble.clone(), red));
        frame.render_widget(Paragraph::new(troubles.collect::<Vec<_>>()), lines);
        let help = "q quit   up, down choose a device   s sort";
        frame.render_widget(Line::styled(help, Style::new().fg(Color::DarkGray)), keys);
    }

    fn title(&self) -> Line<'static> {
        let devices = &self.usage.devices;
        let sum = |of: fn(&DeviceUsage) -> f64| devices.iter().map(of).sum::<f64>();
        let text = format!(
            "{} devices: {:.0} MiB/s read, {:.0} written; {:.1} readers wait; sorted by {}",
            devices.len(),
            sum(|device| device.read_mib_s),
            sum(|device| device.write_mib_s),
            sum(|device| device.readers_waiting),
            self.sort.name(),
        );
        Line::styled(text, Style::new().add_modifier(Modifier::BOLD))
    }

    fn draw_table(&self, frame: &mut Frame, area: Rect) {
        let rows = self.usage.devices.iter().map(|device| {
            let color = match device.healthy {
                true => Color::Reset,
                false => Color::Red,
            };
            Row::new(cells(device)).style(Style::new().fg(color))
        });
        let widths = COLUMNS.map(|(_, width)| match width {
            0 => Constraint::Min(12),
            width => Constraint::Length(width),
        });
        let heads = COLUMNS.map(|(head, width)| match width {
            0 => head.to_owned(),
            width => right(head, width),
        });
        let table = Table::new(rows, widths)
            .header(Row::new(heads).style(Style::new().add_modifier(Modifier::UNDERLINED)))
            .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
        let mut state = TableState::new().with_selected(self.chosen);
        frame.render_stateful_widget(table, area, &mut state);
    }

    fn detail(&self, device: &DeviceUsage, width: u16) -> Vec<Line<'static>> {
        let key = (device.datanode.clone(), device.device.clone());
        let width = usize::from(width).saturating_sub(18);
        let strip = self.strips.get(&key);
        let strip_of = |name: &str, count: i64, looks: Option<&VecDeque<Option<f64>>>| {
            let mut spans = vec![Span::raw(format!("{count:>5} {name:<9}"))];
            let looks = looks.into_iter().flatten();
            let looks: Vec<Option<f64>> = looks.copied().collect();
            let shown = &looks[looks.len().saturating_sub(width)..];
            spans.extend(shown.iter().map(|&busy| shade(busy)));
            Line::from(spans)
        };
        let [p50, p99, p999] = device.read_percentiles_us;
        let [w50, w99, w999] = device.write_percentiles_us;
        let hints = device.hints;
        let simulated = device.simulated_read_mib_s;
        vec![
            Line::raw(format!(
                "{}, {}, dilation {:.0}; volumes: {}",
                device.profile,
                device.mode,
                device.dilation,
                device.volumes.join(", ")
            )),
            strip_of(
                "channels",
                device.channels,
                strip.map(|strip| &strip.channels),
            ),
            strip_of("dies", device.dies, strip.map(|strip| &strip.dies)),
            Line::raw(format!(
                "in device time {} MiB/s read; mean {} us since the last look",
                optional(simulated, 0),
                optional(device.read_latency_us, 0)
            )),
            Line::raw(format!(
                "p50 / p99 / p99.9 us since it was opened: read {p50:.0} / {p99:.0} / {p999:.0}, write {w50:.0} / {w99:.0} / {w999:.0}"
            )),
            Line::raw(format!(
                "hints: explicit {}, history {}, full block {}, nobody {}",
                hints.explicit, hints.history, hints.full_block, hints.none
            )),
            Line::raw(format!(
                "write amplification {}, free blocks {}, {} commands outstanding",
                optional(device.write_amplification, 2),
                device.free_blocks,
                device.outstanding
            )),
            health(device),
        ]
    }
}

/// Heads and widths; a width of 0 takes what is left.
const COLUMNS: [(&str, u16); 9] = [
    ("device", 0),
    ("read MiB/s", 10),
    ("write", 6),
    ("IOPS", 6),
    ("us", 6),
    ("dies %", 6),
    ("melded %", 8),
    ("WA", 5),
    ("wait", 5),
];

fn cells(device: &DeviceUsage) -> [String; COLUMNS.len()] {
    let percent = |share: f64| 100.0 * share;
    let values = [
        format!("{:.0}", device.read_mib_s),
        format!("{:.0}", device.write_mib_s),
        format!("{:.0}", device.read_iops + device.write_iops),
        optional(device.read_latency_us, 0),
        optional(device.dies_busy.map(percent), 0),
        format!("{:.0}", percent(device.melded_share)),
        optional(device.write_amplification, 2),
        format!("{:.1}", device.readers_waiting),
    ];
    let (host, _) = device
        .datanode
        .rsplit_once(':')
        .unwrap_or((&device.datanode, ""));
    let mut cells = COLUMNS.map(|_| format!("{host} {}", device.device));
    for ((cell, (_, width)), value) in cells.iter_mut().zip(COLUMNS).skip(1).zip(values) {
        *cell = right(&value, width);
    }
    cells
}

fn right(text: &str, width: u16) -> String {
    format!("{text:>width$}", width = usize::from(width))
}

fn optional(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
}

/// How busy, as a character; a blank where no time has gone by.
fn shade(busy: Option<f64>) -> Span<'static> {
    let Some(busy) = busy else {
        return Span::raw(" ");
    };
    let level = (busy.clamp(0.0, 1.0) * (SHADES.len() - 1) as f64).round() as usize;
    let color = match level {
        0 | 1 => Color::Green,
        2 | 3 => Color::Yellow,
        _ => Color::Red,
    };
    Span::styled(SHADES[level].to_string(), Style::new().fg(color))
}

fn health(device: &DeviceUsage) -> Line<'static> {
    let text = match device.healthy {
        true => format!(
            "in service; {} fallbacks, {} errors, {} timeouts",
            device.fallbacks, device.errors, device.timeouts
        ),
        false => format!(
            "OUT OF SERVICE, the volumes are stock HDFS: {}",
            device.last_error
        ),
    };
    let color = match device.healthy {
        true => Color::Reset,
        false => Color::Red,
    };
    Line::styled(text, Style::new().fg(color))
}

/// The table as text.
pub(crate) fn text(usage: &Usage) -> String {
    let width = |cells: &[[String; COLUMNS.len()]], column: usize| {
        let longest = cells.iter().map(|row| row[column].chars().count()).max();
        longest.unwrap_or(0).max(COLUMNS[column].0.len())
    };
    let rows: Vec<[String; COLUMNS.len()]> = usage.devices.iter().map(cells).collect();
    let first = width(&rows, 0);
    let mut lines = Vec::new();
    let heads = COLUMNS.map(|(head, width)| right(head, width));
    for row in std::iter::once(&heads).chain(&rows) {
        let name = row[0].trim();
        lines.push(format!("{name:<first$} {}", row[1..].join(" ")));
    }
    lines.extend(usage.troubles.iter().cloned());
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn usage() -> Usage {
        let device = |name: &str, read_mib_s, dies_busy| DeviceUsage {
            datanode: "datanode-1:9864".to_owned(),
            device: name.to_owned(),
            profile: "melded-tlc-8x8".to_owned(),
            mode: "real-time".to_owned(),
            dilation: 140.0,
            healthy: name != "/data/2",
            last_error: "a wait was given up".to_owned(),
            volumes: vec![name.to_owned()],
            read_mib_s,
            dies_busy: Some(dies_busy),
            channels_busy: Some(0.2),
            channels: 8,
            dies: 64,
            melded_share: 0.5,
            ..DeviceUsage::default()
        };
        Usage {
            seconds: 2.0,
            devices: vec![device("/data/1", 10.0, 0.9), device("/data/2", 20.0, 0.1)],
            troubles: vec!["datanode-2:9864: connection refused".to_owned()],
        }
    }

    fn drawn(screen: &Screen) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| screen.draw(frame)).unwrap();
        let buffer = terminal.backend().buffer().clone();
        let row = |y| (0..80).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..24).map(row).collect()
    }

    #[test]
    fn all_of_it_fits_80_by_24() {
        let mut screen = Screen::default();
        screen.show(usage());
        screen.show(usage());
        let rows = drawn(&screen);
        assert!(rows[0].starts_with("2 devices: 30 MiB/s read"), "{rows:?}");
        assert!(rows[1].starts_with("device"), "{rows:?}");
        assert!(rows[1].trim_end().ends_with("wait"), "{rows:?}");
        assert!(rows[2].starts_with("datanode-1 /data/1"), "{rows:?}");
        let has = |text: &str| rows.iter().any(|row| row.contains(text));
        assert!(has("64 dies     ██"), "{rows:?}");
        assert!(has("8 channels ░░"), "{rows:?}");
        assert!(has("in service; 0 fallbacks"), "{rows:?}");
        assert!(has("datanode-2:9864: connection refused"), "{rows:?}");
        assert!(rows[23].starts_with("q quit"), "{rows:?}");
    }

    #[test]
    fn keys_choose_and_sort() {
        let mut screen = Screen::default();
        screen.show(usage());
        screen.choose(1);
        screen.choose(1);
        assert!(
            drawn(&screen)
                .iter()
                .any(|row| row.contains("OUT OF SERVICE"))
        );
        screen.choose(-5);
        assert!(
            !drawn(&screen)
                .iter()
                .any(|row| row.contains("OUT OF SERVICE"))
        );
        screen.sort_by_next();
        assert!(
            drawn(&screen)[2].starts_with("datanode-1 /data/2"),
            "most read first"
        );
        for _ in 0..2 {
            screen.sort_by_next();
        }
        assert!(
            drawn(&screen)[2].starts_with("datanode-1 /data/1"),
            "busiest first"
        );
    }

    #[test]
    fn the_text_has_a_line_for_each_device_and_trouble() {
        let text = text(&usage());
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }

    #[test]
    fn nothing_to_show_is_shown() {
        let rows = drawn(&Screen::default());
        assert!(rows[0].starts_with("0 devices"), "{rows:?}");
    }
}
