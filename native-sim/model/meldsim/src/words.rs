//! Words that people write, and those that they may have meant.

use strsim::osa_distance;

/// "Did you mean": the word of `known` at the smallest edit distance from `word`, when that is close enough to be a slip.
/// Two letters that changed places are one edit.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let allowed = (length / 3).max(1);
    known
        .into_iter()
        // The distance is this at least, and takes long to find for a long word.
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= allowed)
        .map(|candidate| (osa_distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// What to write in place of a name that is none of these.
pub(crate) fn in_place_of(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean {meant:?}?"),
        None => format!("use one of {}", known.join(", ")),
    }
}

/// What is wrong with a name that is none of these, and the remedy.
pub(crate) fn unknown(name: &str, known: &[&str]) -> String {
    let remedy = in_place_of(name, known);
    format!("is {name:?}, which is unknown; {remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let known = ["bs", "iodepth", "runtime", "read_pattern"];
        assert_eq!(nearest("iodpeth", known), Some("iodepth"));
        assert_eq!(nearest("read-pattern", known), Some("read_pattern"));
        assert_eq!(nearest("runtme", known), Some("runtime"));
        assert_eq!(nearest("zonesize", known), None);
    }
}
