//! A page in HTML that needs nothing else: styles, script and charts are inline, no font, no link to load.

use super::chart::Chart;
use super::style::Styles;
use super::svg::{STYLE, escape};
use super::timeline::{self, FoundTimeline};
use meldsim_stats::{Align, Table};
use meldsim_timeline::TimelineData;

const LAYOUT: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Longer texts take several rows of a page's table.
const LONG_CELL: usize = 30;

/// Where a page's numbers come from: what is needed to get them again.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The command, as it can be repeated in a shell.
    pub command: String,
    /// The profile, or the profiles.
    pub profile: String,
    /// Where random numbers start.
    pub seed: String,
    /// What was chosen, whether the command says it or it is the default.
    pub settings: String,
    /// Of the simulator.
    pub version: String,
    /// When it ran. A library has no clock, and the same input gives the same page: the date is input.
    pub date: String,
}

impl Origin {
    /// Folded, for the foot of a page.
    fn to_html(&self) -> String {
        let facts = [
            ("profile", &self.profile),
            ("seed", &self.seed),
            ("settings", &self.settings),
            ("version", &self.version),
            ("date", &self.date),
        ];
        let facts = facts.map(|(name, value)| {
            let value = escape(value);
            format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n")
        });
        let (command, facts) = (escape(&self.command), facts.concat());
        format!(
            "<details class=\"origin\"><summary>Settings, and the command that makes this page</summary>\
             <div class=\"command\"><pre><code>{command}</code></pre>\
             <button type=\"button\" hidden>Copy</button></div>\n<dl>{facts}</dl></details>\n"
        )
    }
}

/// One number that a reader takes away.
#[derive(Clone, Debug)]
pub struct Fact {
    /// The number, with its unit.
    pub value: String,
    /// What it is, and whether it is simulated, measured or published.
    pub what: String,
}

impl Fact {
    /// A number and what it is.
    pub fn new(value: impl Into<String>, what: impl Into<String>) -> Fact {
        let (value, what) = (value.into(), what.into());
        Fact { value, what }
    }
}

/// A page that grows section by section.
#[derive(Debug)]
pub struct Page {
    title: String,
    origin: String,
    body: String,
    in_charts: bool,
    /// Charts of equal values, in words; they follow the row.
    asides: Vec<String>,
    has_timeline: bool,
    styles: Styles,
}

impl Page {
    /// A page with this title and heading, what was found, and where the numbers come from. Of what was found the first
    /// sentence is the headline.
    pub fn new(title: &str, verdict: &str, origin: &Origin) -> Page {
        let title = escape(title);
        let (verdict, more) = match verdict.split_once(". ") {
            Some((first, more)) => (format!("{first}."), format!("<p>{}</p>\n", escape(more))),
            None => (verdict.to_owned(), String::new()),
        };
        let verdict = escape(&verdict);
        Page {
            body: format!("<h1>{title}</h1>\n<p class=\"verdict\">{verdict}</p>\n{more}"),
            title,
            origin: origin.to_html(),
            in_charts: false,
            asides: Vec::new(),
            has_timeline: false,
            styles: Styles::default(),
        }
    }

    /// Adds numbers in large letters, side by side.
    pub fn facts(&mut self, facts: &[Fact]) -> &mut Page {
        let facts = facts.iter().map(|fact| {
            let (value, what) = (escape(&fact.value), escape(&fact.what));
            format!("<div><dt>{what}</dt><dd>{value}</dd></div>\n")
        });
        let facts: String = facts.collect();
        self.element(&format!("<dl class=\"facts\">{facts}</dl>\n"))
    }

    /// Begins a section.
    pub fn heading(&mut self, text: &str) -> &mut Page {
        self.element(&format!("<h2>{}</h2>\n", escape(text)))
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: &str) -> &mut Page {
        self.element(&format!("<p>{}</p>\n", escape(text)))
    }

    /// Adds a table; on a narrow page it scrolls by itself.
    pub fn table(&mut self, table: &Table) -> &mut Page {
        self.element(&format!("{}\n", scrolling(table)))
    }

    /// Adds a long table: only its summary is seen until it is opened.
    pub fn folded_table(&mut self, summary: &str, table: &Table) -> &mut Page {
        self.folded(summary, |page| {
            page.table(table);
        })
    }

    /// Adds text as it was typed, folded.
    pub fn folded_text(&mut self, summary: &str, text: &str) -> &mut Page {
        self.folded(summary, |page| {
            page.element(&format!("<pre>{}</pre>\n", escape(text)));
        })
    }

    /// Adds what is seen only when it is opened.
    pub fn folded(&mut self, summary: &str, fill: impl FnOnce(&mut Page)) -> &mut Page {
        let summary = escape(summary);
        self.element(&format!("<details><summary>{summary}</summary>\n"));
        fill(self);
        self.element("</details>\n")
    }

    /// Adds a chart with what to see in it. Charts in a row stand side by side where there is room. A series looks the same
    /// in all charts of the page. A chart of nothing is left out, and one of equal values is a sentence.
    pub fn chart(&mut self, chart: impl Into<Chart>, caption: &str) -> &mut Page {
        let chart = chart.into();
        match chart.in_words() {
            Some(words) if words.is_empty() => return self,
            Some(words) => {
                self.asides.push(words);
                return self;
            }
            None => {}
        }
        if !self.in_charts {
            self.body += "<div class=\"charts\">\n";
            self.in_charts = true;
        }
        let mut views = chart.draw(&mut self.styles);
        if let Some((name, other)) = chart.other_view(&mut self.styles) {
            let first = in_class(&views, "first");
            let other = in_class(&other, "other");
            views = format!(
                "{first}{other}<label class=\"toggle\"><input type=\"checkbox\">{name}</label>"
            );
        }
        let note = chart
            .note()
            .map_or(String::new(), |note| format!(" {note}"));
        let (caption, data) = (escape(caption) + &note, escape(&chart.to_csv()));
        self.body += &format!(
            "<figure>{views}<figcaption>{caption}</figcaption><pre class=\"csv\" hidden>{data}</pre></figure>\n"
        );
        self
    }

    /// Adds a section with timelines, one above the other, if there are any.
    pub fn timelines(&mut self, timelines: &[TimelineData]) -> &mut Page {
        if timelines.is_empty() {
            return self;
        }
        self.has_timeline = true;
        self.heading("Timeline").paragraph(timeline::ABOUT);
        timeline::write_frame(timelines, &mut self.body);
        self
    }

    /// Adds timelines of other pages, which [`FoundTimeline::in_page`] has found.
    pub fn timelines_of_pages(&mut self, found: &[FoundTimeline]) -> &mut Page {
        self.has_timeline = true;
        self.paragraph(timeline::ABOUT);
        timeline::write_frame_of_found(found, &mut self.body);
        self
    }

    /// The page, with a last line on what its numbers are.
    pub fn finish(mut self, footer: &str) -> String {
        let origin = std::mem::take(&mut self.origin);
        self.element(&format!("{origin}<footer>{}</footer>\n", escape(footer)));
        let (layout, script) = match self.has_timeline {
            true => (timeline::LAYOUT, timeline::SCRIPT),
            false => ("", ""),
        };
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
             <title>{}</title>\n<style id=\"chart-style\">\n{STYLE}</style>\n<style>\n{LAYOUT}{layout}</style></head>\n<body><main>\n{}</main>\n\
             <script>\n{SCRIPT}{script}</script></body></html>\n",
            self.title, self.body
        )
    }

    fn element(&mut self, html: &str) -> &mut Page {
        if std::mem::take(&mut self.in_charts) {
            self.body += "</div>\n";
        }
        for words in std::mem::take(&mut self.asides) {
            self.body += &format!("<p>{}</p>\n", escape(&words));
        }
        self.body += html;
        self
    }
}

/// The table as an element; on a narrow page it scrolls by itself.
fn scrolling(table: &Table) -> String {
    let mut html = "<div class=\"scroll\" tabindex=\"0\"><table>\n".to_owned();
    for (index, row) in table.rows().iter().enumerate() {
        let element = if index == 0 { "th" } else { "td" };
        html += "<tr>";
        for (cell, align) in row.iter().zip(table.aligns()) {
            let class = match align {
                Align::Left if cell.chars().count() > LONG_CELL => " class=\"wrap\"",
                Align::Left => "",
                Align::Right => " class=\"right\"",
            };
            html += &format!("<{element}{class}>{}</{element}>", escape(cell));
        }
        html += "</tr>\n";
    }
    html + "</table></div>"
}

/// A chart of one more class.
fn in_class(svg: &str, class: &str) -> String {
    svg.replacen("class=\"chart\"", &format!("class=\"chart {class}\""), 1)
}

#[cfg(test)]
mod tests {
    use super::super::chart::{Axis, DotPlot, Line, LineChart};
    use super::*;

    fn lines(names: &[&str], y: Axis) -> LineChart {
        let line = |name: &&str| Line::new(*name, vec![(1.0, 1.0), (2.0, 3.0)]);
        LineChart {
            title: "t".to_owned(),
            x: Axis::linear("x"),
            y,
            lines: names.iter().map(line).collect(),
        }
    }

    #[test]
    fn a_page_is_whole_and_loads_nothing() {
        let mut table = Table::new([("a", Align::Left), ("b", Align::Right)]);
        table.row(["<x>", "1"]);
        let origin = Origin {
            command: "meldsim run --profile '<p>'".to_owned(),
            seed: "1".to_owned(),
            date: "2026-01-01".to_owned(),
            ..Origin::default()
        };
        let mut page = Page::new("A & B", "A wins.", &origin);
        page.heading("One")
            .paragraph("text")
            .table(&table)
            .folded_table("1 & only row", &table)
            .chart(lines(&["a"], Axis::linear("y")), "first")
            .chart(lines(&["a"], Axis::log("y")), "second")
            .heading("Two");
        let html = page.finish("simulated");
        for tag in ["div", "figure", "label", "svg", "main", "dl", "dd", "pre"] {
            let open = html.matches(&format!("<{tag}>")).count()
                + html.matches(&format!("<{tag} ")).count();
            assert_eq!(open, html.matches(&format!("</{tag}>")).count(), "{tag}");
        }
        assert_eq!(html.matches("class=\"charts\"").count(), 1);
        assert!(html.contains("<summary>1 &amp; only row</summary>\n<div"));
        assert!(html.contains("<h1>A &amp; B</h1>") && html.contains("&lt;x&gt;"));
        assert!(html.contains("<p class=\"verdict\">A wins.</p>"));
        assert!(html.contains("<code>meldsim run --profile '&lt;p&gt;'</code>"));
        assert!(html.contains("<dt>date</dt><dd>2026-01-01</dd>"));
        assert!(!html.contains("http") && !html.contains("<link") && !html.contains("src="));
        assert!(!html.contains("@import") && !html.contains("url("));
    }

    #[test]
    fn the_first_sentence_is_the_headline() {
        let html = Page::new(
            "",
            "It is 1.5 times as fast. The dies are busy.",
            &Origin::default(),
        )
        .finish("");
        assert!(html.contains(
            "<p class=\"verdict\">It is 1.5 times as fast.</p>\n<p>The dies are busy.</p>"
        ));
    }

    #[test]
    fn a_series_has_one_colour_on_a_page() {
        let mut page = Page::new("", "", &Origin::default());
        page.chart(lines(&["reads", "writes"], Axis::linear("y")), "");
        page.chart(lines(&["dies"], Axis::linear("y")), "");
        let series = ["dies", "writes"];
        let dots = DotPlot::of("", "", series, 1..3, |n| {
            ("".to_owned(), [1.0, f64::from(n)])
        });
        page.chart(dots, "");
        let html = page.finish("");
        for (tip, colour) in [
            ("<title>reads: 1, 1", "--c0"),
            ("<title>writes: 1, 1", "--c1"),
            ("<title>dies: 1, 1", "--c2"),
            ("<title>, dies: 1", "--c2"),
            ("<title>, writes: 2", "--c1"),
        ] {
            let before = html.split(tip).next().unwrap();
            let fill = before.rsplit("fill=\"var(").next().unwrap();
            assert!(fill.starts_with(colour), "{tip}: {}", &fill[..4]);
        }
    }

    #[test]
    fn a_chart_comes_with_its_values_and_one_that_says_nothing_is_left_out() {
        let mut page = Page::new("", "", &Origin::default());
        page.chart(lines(&["a, b"], Axis::linear("y")), "");
        page.chart(lines(&[], Axis::linear("y")), "");
        let same = |at: u8| (at.to_string(), [67.7]);
        page.chart(DotPlot::of("Rate", "MiB/s", ["a"], 0..3, same), "");
        let html = page.finish("");
        assert_eq!(html.matches("<figure>").count(), 1);
        let data = "<pre class=\"csv\" hidden>series,x,y\n&quot;a, b&quot;,1,1\n&quot;a, b&quot;,2,3\n</pre>";
        assert!(html.contains(data), "{html}");
        assert!(html.contains("<p>Rate: 67.7 MiB/s everywhere.</p>"));
    }

    #[test]
    fn a_bent_or_clipped_axis_has_another_view() {
        let mut page = Page::new("", "", &Origin::default());
        page.chart(lines(&["a"], Axis::log("y")), "");
        page.chart(lines(&["a"], Axis::linear("y")), "");
        let html = page.finish("");
        assert_eq!(
            html.matches("<input type=\"checkbox\">linear axis").count(),
            1
        );
        assert_eq!(html.matches("<svg class=\"chart first\"").count(), 1);
        assert_eq!(html.matches("<svg class=\"chart other\"").count(), 1);
    }
}
