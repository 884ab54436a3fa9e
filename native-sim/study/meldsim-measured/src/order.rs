//! Lists by keys that need not have an order of their own: each key stays where it came first.

/// Each key once.
pub fn distinct<K: PartialEq>(keys: impl IntoIterator<Item = K>) -> Vec<K> {
    let mut distinct = Vec::new();
    for key in keys {
        if !distinct.contains(&key) {
            distinct.push(key);
        }
    }
    distinct
}

/// What belongs to a key; a new one is added with nothing.
pub fn of_key<K: PartialEq, V: Default>(groups: &mut Vec<(K, V)>, key: K) -> &mut V {
    let known = groups.iter().position(|(known, _)| *known == key);
    let at = known.unwrap_or_else(|| {
        groups.push((key, V::default()));
        groups.len() - 1
    });
    &mut groups[at].1
}
