//! The outcome of an experiment: what it rests on, its sheets and charts, and the claims that it bears out or not.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::claim::Claim;
use super::sheet::Sheet;
use crate::report::chart::{BarChart, HeatMap, LineChart};
use crate::report::{Align, Page, Table};

/// A picture with what to see in it.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The picture.
    pub chart: Chart,
    /// What to see in it.
    pub caption: String,
}

/// The kinds of pictures.
#[derive(Clone, Debug)]
pub enum Chart {
    /// Lines.
    Line(LineChart),
    /// Bars.
    Bar(BarChart),
    /// A heat map.
    Heat(HeatMap),
}

impl Chart {
    fn to_svg(&self) -> String {
        match self {
            Chart::Line(chart) => chart.to_svg(),
            Chart::Bar(chart) => chart.to_svg(),
            Chart::Heat(chart) => chart.to_svg(),
        }
    }
}

/// What its numbers are and what they rest on.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Grounds {
    /// What is published, and where.
    pub published: Vec<String>,
    /// What is fitted to published numbers.
    pub fitted: Vec<String>,
    /// What we assume.
    pub assumed: Vec<String>,
}

/// An experiment's outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The experiment's name.
    pub experiment: &'static str,
    /// The profile it ran on.
    pub profile: String,
    /// What was done, in a sentence or two.
    pub about: String,
    /// What the numbers rest on.
    pub grounds: Grounds,
    /// The numbers.
    #[serde(serialize_with = "by_name")]
    pub sheets: Vec<Sheet>,
    /// The pictures; only pages show them.
    #[serde(skip)]
    pub figures: Vec<Figure>,
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

impl Grounds {
    fn lines(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let published = self.published.iter().map(|line| ("[P]", line));
        let fitted = self.fitted.iter().map(|line| ("[F]", line));
        let assumed = self.assumed.iter().map(|line| ("[A]", line));
        published.chain(fitted).chain(assumed)
    }
}

/// Claims with their verdicts, one a line.
pub fn claims_table<'a>(claims: impl IntoIterator<Item = &'a Claim>) -> Table {
    let columns = [
        "verdict",
        "",
        "claim",
        "published or expected",
        "simulated",
        "holds when",
    ];
    let mut table = Table::new(columns.map(|name| (name, Align::Left)));
    for claim in claims {
        table.row([
            claim.verdict().to_owned(),
            format!("[{}]", claim.basis.tag()),
            claim.statement.clone(),
            claim.published.clone(),
            claim.measured.clone(),
            claim.criterion.clone(),
        ]);
    }
    table
}

impl Outcome {
    /// The outcome as text.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}: {}\n", self.experiment, self.about);
        for (tag, line) in self.grounds.lines() {
            text += &format!("{tag} {line}\n");
        }
        for sheet in &self.sheets {
            text += &match sheet.is_detail {
                true => format!(
                    "\n{}: {} rows with --format csv or json\n",
                    sheet.name,
                    sheet.len()
                ),
                false => format!("\n{}", sheet.to_table()),
            };
        }
        text.push('\n');
        for claim in &self.claims {
            text += &format!(
                "{}: [{}] {}: {} {}, {} simulated (holds when {})\n",
                claim.verdict(),
                claim.basis.tag(),
                claim.statement,
                claim.published,
                claim.expectation(),
                claim.measured,
                claim.criterion
            );
        }
        text
    }

    /// The sheets as CSV, a blank line between them.
    pub fn to_csv(&self) -> String {
        let sheets: Vec<String> = self.sheets.iter().map(Sheet::to_csv).collect();
        sheets.join("\n")
    }

    /// The outcome as a page that needs nothing else.
    pub fn to_html(&self, footer: &str) -> String {
        let mut page = Page::new(&format!("meldsim experiment {}", self.experiment));
        page.paragraph(&self.about);
        for figure in &self.figures {
            page.chart(&figure.chart.to_svg(), &figure.caption);
        }
        page.heading("Claims").table(&claims_table(&self.claims));
        page.heading("What the numbers rest on");
        for (tag, line) in self.grounds.lines() {
            page.paragraph(&format!("{tag} {line}"));
        }
        page.heading("Numbers");
        for sheet in &self.sheets {
            match sheet.is_detail {
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
