//! MQSim's files as keys with values.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use roxmltree::{Document, Node};

use super::keys::{ABSENT, ABSENT_UNLESS, CARRIED};
use crate::error::BadInput;
use crate::surroundings::read_text;

/// The text of a file.
pub(super) fn text(path: &str) -> Result<String, BadInput> {
    read_text(Path::new(path)).map_err(|error| {
        BadInput(format!(
            "cannot read \"{path}\": {error}; give the path of a file of MQSim"
        ))
    })
}

/// A file whose outermost element has this name.
pub(super) fn parsed<'a>(path: &str, text: &'a str, root: &str) -> Result<Document<'a>, BadInput> {
    let document = Document::parse(text)
        .map_err(|error| BadInput(format!("{path}: is no XML: {error}; mend the file")))?;
    let found = document.root_element().tag_name().name();
    if found != root {
        let message =
            format!("{path}: is <{found}>, not <{root}>; give the file of MQSim that begins so");
        return Err(BadInput(message));
    }
    Ok(document)
}

/// The keys of a device or of a flow.
pub(super) struct Keys<'a> {
    path: &'a str,
    /// Values, and their lines.
    values: BTreeMap<&'a str, (&'a str, u32)>,
}

impl<'a> Keys<'a> {
    /// Those anywhere in an element.
    pub(super) fn of(path: &'a str, element: Node<'a, '_>) -> Keys<'a> {
        let leaves = element
            .descendants()
            .filter(|node| node.is_element() && !node.children().any(|child| child.is_element()));
        let values = leaves.map(|leaf| {
            let line = leaf.document().text_pos_at(leaf.range().start).row;
            (
                leaf.tag_name().name(),
                (leaf.text().unwrap_or_default().trim(), line),
            )
        });
        Keys {
            path,
            values: values.collect(),
        }
    }

    /// The value of a key, or MQSim's default.
    pub(super) fn text(&self, key: &str, default: &'a str) -> &'a str {
        self.values.get(key).map_or(default, |(value, _)| value)
    }

    /// Of one of these names.
    pub(super) fn choice<T: Copy>(
        &self,
        key: &str,
        default: &'a str,
        names: &[(&str, T)],
    ) -> Result<T, BadInput> {
        let text = self.text(key, default);
        let named = names
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(text));
        named.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            self.wrong(key, &format!("is \"{text}\"; use {}", names.join(", ")))
        })
    }

    pub(super) fn flag(&self, key: &str, default: &'a str) -> Result<bool, BadInput> {
        self.choice(key, default, &[("true", true), ("false", false)])
    }

    /// A number within bounds.
    pub(super) fn number<T>(
        &self,
        key: &str,
        default: &'a str,
        least: T,
        most: T,
    ) -> Result<T, BadInput>
    where
        T: FromStr + PartialOrd + Display + Copy,
    {
        let text = self.text(key, default);
        let number = text
            .parse()
            .ok()
            .filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| {
            self.wrong(
                key,
                &format!("is \"{text}\"; use a number from {least} to {most}"),
            )
        })
    }

    pub(super) fn wrong(&self, key: &str, message: &str) -> BadInput {
        let line = self
            .values
            .get(key)
            .map_or(String::new(), |(_, line)| format!("{line}:"));
        BadInput(format!("{}:{line} {key}: {message}", self.path))
    }

    /// Each key without a counterpart, with its value and the reason.
    pub(super) fn absent(&self) -> Vec<(String, String)> {
        let mut absent = Vec::new();
        for (key, (value, _)) in &self.values {
            let unless = ABSENT_UNLESS.iter().find(|(name, ..)| name == key);
            let reason = match unless {
                Some((_, done, _)) if value.eq_ignore_ascii_case(done) => continue,
                Some((_, _, why)) => why,
                None if CARRIED.iter().any(|(name, _)| name == key) => continue,
                None => ABSENT
                    .iter()
                    .find(|(name, _)| name == key)
                    .map_or("is no key of MQSim that is known here", |(_, why)| why),
            };
            absent.push((format!("{key} = {value}"), reason.to_owned()));
        }
        absent
    }
}
