//! A calibration as a page.

use super::measured::{MEASURED_CAPTION, measured_charts};
use super::page::{Origin, Page};
use meldsim_calibrate::{Calibrated, FAR_OFF};

/// The result as a page that needs nothing else: parameters, errors, and the curves over each other.
pub fn calibration_page(calibrated: &Calibrated, origin: &Origin, footer: &str) -> String {
    let title = format!("Calibration of {}", calibrated.drive);
    let about = format!(
        "{} measured cells, simulated with the fitted profile: mean error {:.0} % of the tolerance.",
        calibrated.cells.len(),
        100.0 * calibrated.score
    );
    let mut page = Page::new(&title, &about, origin);
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
    page.heading("Curves");
    for chart in measured_charts(&calibrated.measured) {
        page.chart(chart, MEASURED_CAPTION);
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

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
