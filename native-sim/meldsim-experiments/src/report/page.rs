//! A page in HTML that needs nothing else: styles and charts are inline, no script, no font, no link to load.

use super::svg::{STYLE, escape};
use super::text::Table;

const LAYOUT: &str = "\
:root{color-scheme:light dark;--paper:#fff;--card:#f6f8fa}\
@media(prefers-color-scheme:dark){:root{--paper:#0d1117;--card:#161b22}}\
body{margin:0 auto;max-width:1240px;padding:16px;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}\
h1{font-size:1.5em;margin:.3em 0}h2{font-size:1.15em;margin:1.6em 0 .5em}p{margin:.4em 0;max-width:75ch}\
.soft,footer,figcaption{color:var(--soft)}figcaption{font-size:.85em}\
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));gap:16px;align-items:start}\
figure{margin:0;padding:12px;background:var(--card);border-radius:8px;max-width:720px}\
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9em;font-variant-numeric:tabular-nums}\
th,td{padding:3px 10px;text-align:left;white-space:nowrap;border-bottom:1px solid var(--grid)}\
details{margin:1em 0}summary{cursor:pointer;color:var(--soft)}.right{text-align:right}footer{margin-top:2em;font-size:.85em;overflow-wrap:anywhere}";

/// A page that grows section by section.
#[derive(Debug)]
pub struct Page {
    title: String,
    body: String,
    in_charts: bool,
}

impl Page {
    /// A page with this title and heading.
    pub fn new(title: &str) -> Page {
        Page {
            title: escape(title),
            body: format!("<h1>{}</h1>\n", escape(title)),
            in_charts: false,
        }
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
        self.element(&format!(
            "<div class=\"scroll\">{}</div>\n",
            table.to_html()
        ))
    }

    /// Adds a long table: only its summary is seen until it is opened.
    pub fn folded_table(&mut self, summary: &str, table: &Table) -> &mut Page {
        let (summary, table) = (escape(summary), table.to_html());
        self.element(&format!(
            "<details><summary>{summary}</summary><div class=\"scroll\">{table}</div></details>\n"
        ))
    }

    /// Adds a chart with what to see in it. Charts in a row stand side by side where there is room.
    pub fn chart(&mut self, svg: &str, caption: &str) -> &mut Page {
        if !self.in_charts {
            self.body += "<div class=\"charts\">\n";
            self.in_charts = true;
        }
        let caption = escape(caption);
        self.body += &format!("<figure>{svg}<figcaption>{caption}</figcaption></figure>\n");
        self
    }

    /// The page, with a last line on what its numbers are.
    pub fn finish(mut self, footer: &str) -> String {
        self.element(&format!("<footer>{}</footer>\n", escape(footer)));
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
             <title>{}</title><style>{LAYOUT}{STYLE}</style></head>\n<body>\n{}</body></html>\n",
            self.title, self.body
        )
    }

    fn element(&mut self, html: &str) -> &mut Page {
        if std::mem::take(&mut self.in_charts) {
            self.body += "</div>\n";
        }
        self.body += html;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::Align;
    use super::*;

    #[test]
    fn a_page_is_whole_and_loads_nothing() {
        let mut table = Table::new([("a", Align::Left), ("b", Align::Right)]);
        table.row(["<x>", "1"]);
        let mut page = Page::new("A & B");
        page.heading("One")
            .paragraph("text")
            .table(&table)
            .folded_table("1 & only row", &table)
            .chart("<svg></svg>", "first")
            .chart("<svg></svg>", "second")
            .heading("Two");
        let html = page.finish("simulated");
        assert_eq!(html.matches("<div").count(), html.matches("</div>").count());
        assert_eq!(html.matches("class=\"charts\"").count(), 1);
        let folded = "<details><summary>1 &amp; only row</summary><div";
        assert!(html.contains(folded) && html.contains("</div></details>"));
        assert!(html.contains("<h1>A &amp; B</h1>") && html.contains("&lt;x&gt;"));
        assert!(!html.contains("http") && !html.contains("<script") && !html.contains("src="));
    }
}
