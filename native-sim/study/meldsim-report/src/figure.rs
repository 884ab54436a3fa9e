//! A chart as a file of its own, which needs no page around it.

use super::svg::STYLE;

/// The paper below the chart, which a page would give it.
const PAPER: &str = "svg.chart { background: var(--paper); }";

/// `chart`, an SVG element of a page, as a file: with a name space and the colours that a page has for all its charts.
pub fn figure_file(chart: &str) -> String {
    let named = chart.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
    let styled = named.replacen('>', &format!("><style>\n{STYLE}{PAPER}</style>"), 1);
    styled + "\n"
}

#[cfg(test)]
mod tests {
    use super::figure_file;

    #[test]
    fn a_file_has_the_styles_and_the_name_space_once() {
        let file = figure_file("<svg class=\"chart\"><g><svg class=\"inner\"></svg></g></svg>");
        assert!(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        assert!(file.ends_with("</svg>\n"));
        for once in ["xmlns", "<style>", "</style><g>"] {
            assert_eq!(file.matches(once).count(), 1, "{once} in {file}");
        }
    }
}
