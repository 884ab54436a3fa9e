//! Timelines on a page: the data of each device, and the frame that the page's script draws in.
//!
//! The data is text: base64 of the compressed records that the script decodes. Pages are made of pages, too: what a page has
//! is found again by its marks, so that two can be laid over each other.

use std::fmt::Write;

use meldsim::Instant;

use super::svg::escape;

pub(super) const SCRIPT: &str = include_str!("timeline.js");
pub(super) const LAYOUT: &str = include_str!("timeline.css");

/// How to use it.
pub(super) const ABOUT: &str = "What every channel and die did, in simulated time. Wheel, pinch or + and - zoom; drag or arrow keys pan; \
    a click on a span or a command lights all that it was for. The strip above shows how busy all channels and dies are.";

const OPEN: &str = "<script type=\"text/plain\" class=\"timeline-data\" data-name=\"";
const CLOSE: &str = "</script>";
const FRAME: &str = "<div class=\"timeline\">\n";
const FRAME_END: &str = "</div>\n";

/// What a device did, for a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimelineData {
    /// The device, and what was done with it.
    pub name: String,
    /// The records, compressed by gzip.
    pub bytes: Vec<u8>,
    /// When the first record began for which there was no room.
    pub cut: Option<Instant>,
}

impl TimelineData {
    pub(crate) fn new(name: String, bytes: Vec<u8>, cut: Option<Instant>) -> TimelineData {
        TimelineData { name, bytes, cut }
    }

    /// Adds the element that holds it.
    fn write(&self, page: &mut String) {
        *page += OPEN;
        *page += &escape(&self.name);
        *page += "\">";
        write_base64(&self.bytes, page);
        *page += CLOSE;
        page.push('\n');
    }

    /// The timelines of a page, each as its element, named after the page and the device.
    pub fn in_page(title: &str, page: &str) -> Vec<String> {
        let elements = page.split(OPEN).skip(1);
        let whole = elements.filter_map(|rest| Some(rest.split_once(CLOSE)?.0));
        let title = escape(title);
        whole
            .map(|rest| format!("{OPEN}{title}: {rest}{CLOSE}\n"))
            .collect()
    }
}

/// Adds the frame with the timelines to a page. They are long, so the page grows once.
pub(super) fn write_frame(timelines: &[TimelineData], page: &mut String) {
    let bytes: usize = timelines.iter().map(|timeline| timeline.bytes.len()).sum();
    page.reserve(bytes / 3 * 4 + 4096 * (1 + timelines.len()));
    *page += FRAME;
    for timeline in timelines {
        timeline.write(page);
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

/// The same of elements that [`TimelineData::in_page`] has found.
pub(super) fn write_frame_of_elements(elements: &[String], page: &mut String) {
    *page += FRAME;
    page.extend(elements.iter().map(String::as_str));
    *page += FRAME_END;
}

/// RFC 4648.
fn write_base64(bytes: &[u8], text: &mut String) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            match digit <= chunk.len() {
                true => text.push(DIGITS[(word >> (18 - 6 * digit)) as usize & 63] as char),
                false => text.push('='),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_as_its_standard_has_it() {
        // The vectors of RFC 4648, section 10.
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut written = String::new();
            write_base64(bytes.as_bytes(), &mut written);
            assert_eq!(written, text);
        }
    }

    #[test]
    fn a_page_has_what_was_put_in() {
        let data = |name: &str| TimelineData::new(name.to_owned(), vec![1, 2, 3], None);
        let (mut page, mut both) = (String::new(), String::new());
        write_frame(&[data("a < b"), data("c")], &mut page);
        let found = TimelineData::in_page("p&q", &page);
        assert_eq!(found.len(), 2);
        write_frame_of_elements(&found, &mut both);
        assert_eq!(both.replace("p&amp;q: ", ""), page);
        assert!(
            both.contains("data-name=\"p&amp;q: a &lt; b\">AQID<"),
            "{both}"
        );
    }
}
