//! The outcome of an experiment: its provenance, its sheets and charts, and the claims that it bears out or not.
//! Shown as text, CSV, JSON or a page.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::claim::{Claim, Count, claims_table, counts};
use meldsim_report::chart::{Axis, Chart};
use meldsim_report::{Origin, Page, figure_file};
use meldsim_stats::Sheet;
use meldsim_stats::bytes;
use meldsim_timeline::TimelineData;

/// A picture with what to see in it.
#[derive(Clone, Debug)]
struct Figure {
    chart: Chart,
    caption: String,
}

/// Where the numbers of an experiment come from.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Provenance {
    /// What is published, and where.
    pub published: Vec<String>,
    /// What is fitted to published numbers.
    pub fitted: Vec<String>,
    /// What we assume.
    pub assumed: Vec<String>,
}

/// An experiment's outcome.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// The experiment's name.
    pub experiment: &'static str,
    /// The profile it ran on.
    pub profile: String,
    /// What was done, in a sentence or two.
    pub about: String,
    /// Where the numbers come from.
    pub provenance: Provenance,
    /// The numbers.
    #[serde(serialize_with = "by_name")]
    pub sheets: Vec<Sheet>,
    /// The pictures; only pages show them.
    #[serde(skip)]
    figures: Vec<Figure>,
    /// Timelines of what the experiment is about; only pages show them.
    #[serde(skip)]
    pub timelines: Vec<TimelineData>,
    /// What the numbers bear out.
    pub claims: Vec<Claim>,
}

fn by_name<S: Serializer>(sheets: &[Sheet], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(sheets.len()))?;
    for sheet in sheets {
        map.serialize_entry(sheet.name, sheet)?;
    }
    map.end()
}

impl Provenance {
    fn lines(&self) -> impl Iterator<Item = String> {
        let tagged = [
            ("P", &self.published),
            ("F", &self.fitted),
            ("A", &self.assumed),
        ];
        let lines = |(tag, lines): (&'static str, &Vec<String>)| {
            let lines = lines.iter().map(move |line| format!("[{tag}] {line}"));
            lines.collect::<Vec<String>>()
        };
        tagged.into_iter().flat_map(lines)
    }
}

/// Filling in.
impl Outcome {
    pub(super) fn new(experiment: &'static str, profile: &str, about: String) -> Outcome {
        Outcome {
            experiment,
            profile: profile.to_owned(),
            about,
            provenance: Provenance::default(),
            sheets: Vec::new(),
            figures: Vec::new(),
            timelines: Vec::new(),
            claims: Vec::new(),
        }
    }

    /// Adds what is published, and where.
    pub fn published(mut self, line: impl Into<String>) -> Outcome {
        self.provenance.published.push(line.into());
        self
    }

    /// Adds what is fitted to published numbers.
    pub fn fitted(mut self, line: impl Into<String>) -> Outcome {
        self.provenance.fitted.push(line.into());
        self
    }

    /// Adds what we assume.
    pub fn assumed(mut self, line: impl Into<String>) -> Outcome {
        self.provenance.assumed.push(line.into());
        self
    }

    /// Adds a sheet.
    pub fn sheet(mut self, sheet: impl Into<Sheet>) -> Outcome {
        self.sheets.push(sheet.into());
        self
    }

    /// Adds a picture; the caption says what to see in it.
    pub fn figure(mut self, chart: impl Into<Chart>, caption: &str) -> Outcome {
        let (chart, caption) = (chart.into(), caption.to_owned());
        self.figures.push(Figure { chart, caption });
        self
    }

    /// Adds claims.
    pub fn claims(mut self, claims: impl IntoIterator<Item = Claim>) -> Outcome {
        self.claims.extend(claims);
        self
    }
}

/// Showing.
impl Outcome {
    /// The outcome as text.
    pub fn to_text(&self) -> String {
        self.to_text_within(usize::MAX)
    }

    /// The outcome as text, its tables within so many columns of a terminal.
    pub fn to_text_within(&self, columns: usize) -> String {
        let mut text = format!("{}: {}\n", self.experiment, self.about);
        for line in self.provenance.lines() {
            text += &(line + "\n");
        }
        for sheet in &self.sheets {
            let (name, rows) = (sheet.name, sheet.len());
            text += &match sheet.is_detail {
                true => format!("\n{name}: {rows} rows with --format csv or json\n"),
                false => format!("\n{}", sheet.to_table().within(columns)),
            };
        }
        text.push('\n');
        text.extend(self.claims.iter().map(Claim::to_text));
        text
    }

    /// How much of what was claimed the numbers bear out, in a sentence.
    fn verdict(&self) -> String {
        if self.claims.is_empty() {
            return "Nothing is claimed of this device; the numbers are simulated.".to_owned();
        }
        let counts: Vec<String> = counts(&self.claims).iter().map(Count::to_string).collect();
        let missed = self.claims.iter().filter(|claim| !claim.holds);
        let missed: Vec<&str> = missed.map(|claim| claim.id).collect();
        let missed = match missed.as_slice() {
            [] => String::new(),
            missed => format!(" Missed: {}.", missed.join(", ")),
        };
        format!("Claims in simulation: {}.{missed}", counts.join("; "))
    }

    /// The sheets as CSV, a blank line between them.
    pub fn to_csv(&self) -> String {
        let sheets: Vec<String> = self.sheets.iter().map(Sheet::to_csv).collect();
        sheets.join("\n")
    }

    /// The charts of the page, each as an SVG file of its own.
    pub fn figures(&self) -> impl Iterator<Item = String> {
        self.figures
            .iter()
            .map(|figure| figure_file(&figure.chart.to_svg()))
    }

    /// The outcome as a page that needs nothing else.
    pub fn to_html(&self, origin: &Origin, footer: &str) -> String {
        let title = format!("Experiment {}", self.experiment);
        let mut page = Page::new(&title, &self.verdict(), origin);
        page.paragraph(&self.about);
        for figure in &self.figures {
            page.chart(figure.chart.clone(), &figure.caption);
        }
        page.timelines(&self.timelines);
        page.heading("Claims").table(&claims_table(&self.claims));
        page.folded("What the numbers rest on", |page| {
            for line in self.provenance.lines() {
                page.paragraph(&line);
            }
        });
        page.heading("Numbers");
        for sheet in &self.sheets {
            match sheet.is_detail || sheet.len() > LONG_ROWS {
                true => {
                    let summary = format!("{}: {} rows", sheet.name, sheet.len());
                    page.folded_table(&summary, &sheet.to_table())
                }
                false => page.table(&sheet.to_table()),
            };
        }
        page.finish(footer)
    }
}

/// A sheet of more rows is folded.
const LONG_ROWS: usize = 24;

/// A logarithmic axis of sizes, each named.
pub fn size_axis(label: &str, sizes: impl Iterator<Item = u64>) -> Axis {
    Axis {
        ticks: sizes.map(|size| (size as f64, bytes(size))).collect(),
        ..Axis::log(label)
    }
}
