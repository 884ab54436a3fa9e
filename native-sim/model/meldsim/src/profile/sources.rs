//! Where the numbers of a profile come from, as the tags of its comments say.
//!
//! ```text
//!   [bus]
//!   rate = "1200MT/s"  # [A] half of what such flash can   --> "bus.rate" is assumed
//! ```

use std::collections::BTreeMap;
use std::fmt;

use super::{Profile, Setting};

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `[P]`: a paper or a data sheet says so.
    Published,
    /// `[F]`: it was fitted to what was measured.
    Fitted,
    /// `[A]`, `[N]` (the measurements do not tell), or a default.
    Assumed,
    /// `[G]`: the user wrote it in a profile, or set the key.
    Given,
}

impl Source {
    /// `published`, `fitted`, `assumed` or `given`.
    pub const fn name(self) -> &'static str {
        match self {
            Source::Published => "published",
            Source::Fitted => "fitted",
            Source::Assumed => "assumed",
            Source::Given => "given",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The sources of a profile's keys. In a text with tags, a key without one is assumed; in a text without tags all keys are
/// given. Of `base` come those of the keys that the text does not have. What nobody says is a default, and assumed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources(BTreeMap<String, Source>);

impl Sources {
    /// Those of a profile's text, with `settings` in place of what it says of the same keys.
    pub fn of(text: &str, settings: &[Setting]) -> Sources {
        let own = of_lines(text);
        let has_tags = own.iter().any(|(_, source)| source.is_some());
        let untagged = match has_tags {
            true => Source::Assumed,
            false => Source::Given,
        };
        let base = text
            .parse()
            .ok()
            .and_then(|table: toml::Table| Profile::builtin_text(table.get("base")?.as_str()?));
        let mut sources = base.map_or_else(Sources::default, |base| Sources::of(base, &[]));
        let own = own.into_iter();
        sources
            .0
            .extend(own.map(|(key, source)| (key, source.unwrap_or(untagged))));
        let set = settings.iter().map(|set| (set.key(), Source::Given));
        sources.0.extend(set);
        sources
    }

    /// That of a key, such as `bus.rate`.
    pub fn get(&self, key: &str) -> Source {
        self.0.get(key).copied().unwrap_or(Source::Assumed)
    }
}

/// The keys of a text with their tags.
fn of_lines(text: &str) -> Vec<(String, Option<Source>)> {
    let mut section = "";
    let mut keys = Vec::new();
    for line in text.lines().map(str::trim) {
        let header = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        if let Some((name, _)) = header {
            section = name.trim();
        } else if let Some((name, rest)) = line.split_once('=').filter(|_| !line.starts_with('#')) {
            let name = name.trim();
            let key = match section {
                "" => name.to_owned(),
                section => format!("{section}.{name}"),
            };
            keys.push((key, tag(rest)));
        }
    }
    keys
}

/// The first tag of a comment.
fn tag(rest: &str) -> Option<Source> {
    let (_, comment) = rest.split_once("# [")?;
    match comment.get(..2)? {
        "P]" => Some(Source::Published),
        "F]" => Some(Source::Fitted),
        "A]" | "N]" => Some(Source::Assumed),
        "G]" => Some(Source::Given),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_bases_and_settings_say_where_a_number_comes_from() {
        let set: Setting = "timing.erase=4ms".parse().expect("a setting");
        let builtin = Profile::builtin_text("pm9a3").expect("a profile");
        let sources = Sources::of(builtin, std::slice::from_ref(&set));
        assert_eq!(sources.get("host.link_rate"), Source::Published);
        assert_eq!(sources.get("timing.program"), Source::Fitted);
        assert_eq!(sources.get("bus.rate"), Source::Assumed);
        assert_eq!(sources.get("host.command_cost"), Source::Assumed);
        assert_eq!(sources.get("timing.erase"), Source::Given);

        let own = "base = \"pm9a3\"\nname = \"mine\"\n[bus]\nrate = \"1600MT/s\" # by hand\n";
        let sources = Sources::of(own, &[]);
        assert_eq!(sources.get("bus.rate"), Source::Given);
        assert_eq!(sources.get("host.link_rate"), Source::Published);
        let own = "[bus]\nrate = \"1600MT/s\"\n[timing]\nerase = \"3ms\" # [N] blocks\n";
        let sources = Sources::of(own, &[]);
        assert_eq!(sources.get("bus.rate"), Source::Assumed);
        assert_eq!(sources.get("timing.erase"), Source::Assumed);
    }

    /// A number without a tag would count as assumed, whatever its comment says.
    #[test]
    fn every_number_of_the_drives_has_a_tag() {
        for name in Profile::builtin_names() {
            let text = Profile::builtin_text(name).expect("a profile");
            let keys = of_lines(text).into_iter();
            let bare: Vec<String> = keys
                .filter(|(key, tag)| tag.is_none() && key.contains('.'))
                .map(|(key, _)| key)
                .collect();
            assert!(bare.is_empty(), "{name}: {bare:?}");
        }
    }
}
