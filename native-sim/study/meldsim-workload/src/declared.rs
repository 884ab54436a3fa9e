//! The options that jobs may have, as the page `options.md` declares them: the tables that people read.

use std::sync::LazyLock;

/// What is declared of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It is an option of jobs here.
    Own,
    /// It changes nothing here, for this reason.
    PassedOver(&'static str),
    /// It cannot be done: what it asks for, and what to do instead.
    Refused([&'static str; 2]),
    /// It is an engine that does this, which a device cannot be asked for.
    Engine(&'static str),
}

struct Declared {
    name: &'static str,
    /// The first of the option's names.
    first: &'static str,
    meaning: Meaning,
}

static DECLARED: LazyLock<Vec<Declared>> = LazyLock::new(|| {
    let (mut all, mut part) = (Vec::new(), "");
    for line in include_str!("../options.md").lines() {
        part = line.strip_prefix("## ").unwrap_or(part);
        let Some(row) = line.strip_prefix("| `") else {
            continue;
        };
        let mut cells = row.trim_end_matches(" |").split(" | ");
        let names = cells.next().unwrap_or_default();
        let mut cell = || cells.next().unwrap_or_default();
        let meaning = match part {
            "Passed over" => Meaning::PassedOver(cell()),
            "Refused" => Meaning::Refused([cell(), cell()]),
            "Refused engines" => Meaning::Engine(cell()),
            _ => Meaning::Own,
        };
        for option in names.split(", ") {
            let mut names = option.split(" or ").map(|name| name.trim_matches('`'));
            let first = names.next().unwrap_or_default();
            all.extend(std::iter::once(first).chain(names).map(|name| Declared {
                name,
                first,
                meaning,
            }));
        }
    }
    all
});

fn declared() -> impl Iterator<Item = &'static Declared> {
    let is_engine = |option: &Declared| matches!(option.meaning, Meaning::Engine(_));
    DECLARED.iter().filter(move |option| !is_engine(option))
}

/// The options that jobs may have, with second names, and those of fio that are passed over or refused.
pub fn job_options() -> impl Iterator<Item = &'static str> {
    declared().map(|option| option.name)
}

/// What an option means, if there is one of that name.
pub(crate) fn meaning(key: &str) -> Option<Meaning> {
    let option = declared().find(|option| option.name == key)?;
    Some(option.meaning)
}

/// The first name of an option; of what is none, the name itself.
pub(crate) fn first_name(key: &str) -> &str {
    let option = declared().find(|option| option.name == key);
    option.map_or(key, |option| option.first)
}

/// What a refused engine does.
pub(crate) fn engine(name: &str) -> Option<&'static str> {
    DECLARED.iter().find_map(|engine| match engine.meaning {
        Meaning::Engine(does) if engine.name == name => Some(does),
        _ => None,
    })
}

/// Whether there is such an option.
pub fn is_job_option(key: &str) -> bool {
    meaning(key).is_some()
}

/// The option of that name, or the only one that begins so, as on fio's command line.
pub fn named_option(key: &str) -> Option<&'static str> {
    let known: Vec<_> = job_options()
        .filter(|known| known.starts_with(key))
        .collect();
    let exact = known.iter().find(|known| **known == key);
    exact.copied().or(match known.as_slice() {
        [only] if key.len() > 2 => Some(only),
        _ => None,
    })
}
