//! "Did you mean": the known word nearest to a misspelt one.

/// The word of `known` at the smallest edit distance from `word`, when that is close enough to be a slip.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions and replacements that make `b` of `a` (Levenshtein), one row at a time.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
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
