//! Values by what requests ask for, in fio's words.

/// fio's `read,write,trim`: a value that no comma follows is for all that come after it, too; an empty one is for none.
pub(super) fn by_direction<T: Clone>(
    text: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<[Option<T>; 3], String> {
    let parts: Vec<&str> = text.splitn(3, ',').map(str::trim).collect();
    let last = parts.len() - 1;
    if last == 0 {
        return parse(text).map(|value| [Some(value.clone()), Some(value.clone()), Some(value)]);
    }
    let value = |nth: usize| match parts[nth.min(last)] {
        "" => Ok(None),
        part => parse(part).map(Some),
    };
    Ok([value(0)?, value(1)?, value(2)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_for_all_that_follow() {
        let parse = |text: &str| text.parse::<u32>().map_err(|error| error.to_string());
        for (text, expected) in [
            ("1", [Some(1); 3]),
            ("1,2", [Some(1), Some(2), Some(2)]),
            ("1,2,", [Some(1), Some(2), None]),
            ("1,", [Some(1), None, None]),
            (",2", [None, Some(2), Some(2)]),
            ("1,2,3", [Some(1), Some(2), Some(3)]),
        ] {
            assert_eq!(by_direction(text, parse), Ok(expected), "{text}");
        }
        assert!(by_direction("", parse).is_err());
    }
}
