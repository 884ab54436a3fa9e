//! A calibration as a page.

use super::measured::{MEASURED_CAPTION, measured_charts};
use super::page::{Fact, Origin, Page};
use meldsim_calibrate::{Calibrated, FAR_OFF};
use meldsim_measured::Cell;

/// The result as a page that needs nothing else: parameters, errors, and the curves over each other.
pub fn calibration_page(calibrated: &Calibrated, origin: &Origin, footer: &str) -> String {
    let title = format!("Calibration of {}", calibrated.drive);
    let about = format!(
        "{} measured cells, simulated with the fitted profile: mean error {:.0} % of the tolerance.",
        calibrated.cells.len(),
        100.0 * calibrated.score
    );
    let mut page = Page::new(&title, &about, origin);
    page.facts(&facts(&calibrated.measured));
    page.heading("Curves");
    for chart in measured_charts(&calibrated.measured) {
        page.chart(chart, MEASURED_CAPTION);
    }
    page.heading("Parameters")
        .table(&calibrated.parameters.to_table());
    page.heading("Errors").table(&calibrated.errors.to_table());
    if !calibrated.far_off.is_empty() {
        page.paragraph(FAR_OFF)
            .table(&calibrated.far_off.to_table());
    }
    if !calibrated.findings.is_empty() {
        page.heading("Limits of the measurements");
    }
    for finding in &calibrated.findings {
        page.paragraph(&format!(
            "{} Measure next: {}.",
            sentence(&finding.what),
            finding.measure
        ));
    }
    page.heading("Numbers");
    for (name, sheet) in [
        ("cells", &calibrated.cells),
        ("left out", &calibrated.left_out),
    ] {
        page.folded_table(&format!("{name}: {} rows", sheet.len()), &sheet.to_table());
    }
    page.finish(footer)
}

/// How far off reads, their and the writes' tails, and writes are: the median of the relative errors.
fn facts(cells: &[Cell]) -> [Fact; 3] {
    let mut errors: [Vec<f64>; 3] = Default::default();
    let judged = cells.iter().filter(|cell| !cell.question.class.is_given);
    for cell in judged {
        let question = &cell.question;
        let is_read =
            question.column.starts_with("read_") || question.class.kind.starts_with("read_");
        let group = match is_read {
            _ if question.column.contains("p99") => 1,
            true => 0,
            false => 2,
        };
        let error = (cell.simulated - question.measured).abs() / question.measured.abs();
        errors[group].push(error);
    }
    let names = ["reads", "tails, from the 99th percentile on", "writes"];
    [0, 1, 2].map(|group| {
        let (errors, name) = (&mut errors[group], names[group]);
        errors.sort_by(f64::total_cmp);
        match errors.get(errors.len() / 2) {
            Some(error) => Fact::new(
                format!("{:.1} %", 100.0 * error),
                format!("{name}: error in the median"),
            ),
            None => Fact::new("-", format!("{name}: not measured")),
        }
    })
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
