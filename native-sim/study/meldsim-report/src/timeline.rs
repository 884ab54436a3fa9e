//! Timelines on a page: the data of each device, and the frame that the page's script draws in.
//!
//! The data is text: base64 of the compressed records that the script decodes. Pages are made of pages, too: what a page has
//! is found again by its marks, so that two can be laid over each other.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use meldsim::Instant;
use meldsim_timeline::TimelineData;

use super::svg::{escape, unescape};

pub(super) const SCRIPT: &str = include_str!("timeline.js");
pub(super) const LAYOUT: &str = include_str!("timeline.css");

/// How to use it.
pub(super) const ABOUT: &str = "What every channel and die did, in simulated time. Wheel, pinch or + and - zoom; drag or arrow keys pan; \
    a click on a span or a command lights all that it was for. The strip above shows how busy all channels and dies are.";

const OPEN: &str = "<script type=\"text/plain\" class=\"timeline-data\" data-name=\"";
/// After the name.
const END: &str = "\" data-end-ps=\"";
const CLOSE: &str = "</script>";
const FRAME: &str = "<div class=\"timeline\">\n";
const FRAME_END: &str = "</div>\n";

/// A timeline of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundTimeline {
    /// The page and the device.
    pub name: String,
    /// When the last command was complete; older pages do not say it.
    pub end: Option<Instant>,
    element: String,
}

impl FoundTimeline {
    /// The timelines of a page, named after the page and the device.
    pub fn in_page(title: &str, page: &str) -> Vec<FoundTimeline> {
        let escaped = escape(title);
        let found = |rest: &str| {
            let rest = rest.split_once(CLOSE)?.0;
            let (name, more) = rest.split_once('"')?;
            let end = more.split_once('>')?.0.trim_end_matches('"');
            let end = end.strip_prefix(&END[1..]).map(str::parse);
            Some(FoundTimeline {
                name: format!("{title}: {}", unescape(name)),
                end: end.and_then(Result::ok).map(Instant::from_ps),
                element: format!("{OPEN}{escaped}: {rest}{CLOSE}\n"),
            })
        };
        page.split(OPEN).skip(1).filter_map(found).collect()
    }
}

/// Adds the element that holds a timeline.
fn write_data(timeline: &TimelineData, page: &mut String) {
    *page += OPEN;
    *page += &escape(&timeline.name);
    // Writing to a string cannot fail.
    let _ = write!(page, "{END}{}\">", timeline.end.as_ps());
    STANDARD.encode_string(&timeline.bytes, page);
    *page += CLOSE;
    page.push('\n');
}

/// Adds the frame with the timelines to a page. They are long, so the page grows once.
pub(super) fn write_frame(timelines: &[TimelineData], page: &mut String) {
    let bytes: usize = timelines.iter().map(|timeline| timeline.bytes.len()).sum();
    page.reserve(bytes / 3 * 4 + 4096 * (1 + timelines.len()));
    *page += FRAME;
    for timeline in timelines {
        write_data(timeline, page);
    }
    *page += FRAME_END;
    for timeline in timelines {
        if let Some(cut) = timeline.cut {
            // Writing to a string cannot fail.
            let _ = writeln!(
                page,
                "<p class=\"note\">{}: the page has no room for what began after {} us. \
                 --timeline-from, --timeline-for and --timeline-slowest choose a part.</p>",
                escape(&timeline.name),
                cut.as_ps() / 1_000_000
            );
        }
    }
}

/// The same of timelines that [`FoundTimeline::in_page`] has found.
pub(super) fn write_frame_of_found(found: &[FoundTimeline], page: &mut String) {
    *page += FRAME;
    page.extend(found.iter().map(|found| found.element.as_str()));
    *page += FRAME_END;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_kind_has_a_colour_of_its_own() {
        let light = SCRIPT.split("const LIGHT = [").nth(1).unwrap();
        let light = light.split("]];").next().unwrap();
        let colours: Vec<_> = light
            .split('[')
            .skip(1)
            .map(|rgb| rgb.trim_end_matches([']', ',', '\n', ' ']))
            .collect();
        assert_eq!(colours.len(), 21);
        assert_eq!(BTreeSet::from_iter(&colours).len(), colours.len());
    }

    #[test]
    fn a_page_has_what_was_put_in() {
        let end = Instant::from_ps(1_500_000);
        let data = |name: &str| {
            let mut data = TimelineData::default();
            data.name = name.to_owned();
            data.bytes = vec![1, 2, 3];
            data.end = end;
            data
        };
        let (mut page, mut both) = (String::new(), String::new());
        write_frame(&[data("a < b"), data("c")], &mut page);
        let found = FoundTimeline::in_page("p&q", &page);
        assert_eq!(found.len(), 2);
        assert_eq!((&*found[0].name, found[0].end), ("p&q: a < b", Some(end)));
        write_frame_of_found(&found, &mut both);
        assert_eq!(both.replace("p&amp;q: ", ""), page);
        assert!(
            both.contains("data-name=\"p&amp;q: a &lt; b\" data-end-ps=\"1500000\">AQID<"),
            "{both}"
        );
        // As pages were before they said when the last command was complete.
        let old = page.replace(" data-end-ps=\"1500000\"", "");
        let found = FoundTimeline::in_page("p", &old);
        assert_eq!((&*found[1].name, found[1].end), ("p: c", None));
    }
}
