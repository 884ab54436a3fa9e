//! Takes a line apart.

use super::error::Fault;

/// The fields of a line, in order.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    rest: Option<&'a str>,
    separator: Separator,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    Comma,
    Blanks,
}

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a str, separator: Separator) -> Fields<'a> {
        Fields {
            rest: Some(line.trim()),
            separator,
        }
    }

    /// The next field, which must be there.
    pub(super) fn text(&mut self, field: &'static str) -> Result<&'a str, Fault> {
        let missing = || {
            Fault::new(
                field,
                "is missing",
                "the line may be cut off: mend or remove it",
            )
        };
        let rest = self.rest.take().filter(|rest| !rest.is_empty());
        let rest = rest.ok_or_else(missing)?;
        let (text, rest) = match self.separator {
            Separator::Comma => match rest.split_once(',') {
                Some((text, rest)) => (text.trim(), Some(rest)),
                None => (rest.trim(), None),
            },
            Separator::Blanks => match rest.split_once([' ', '\t']) {
                Some((text, rest)) => (text, Some(rest.trim_start())),
                None => (rest, None),
            },
        };
        self.rest = rest;
        Ok(text)
    }

    /// The next field as a number.
    pub(super) fn number(&mut self, field: &'static str) -> Result<u64, Fault> {
        let text = self.text(field)?;
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if digits { text.parse().ok() } else { None };
        number.ok_or_else(|| {
            let message = format!(
                "is \"{}\", which is not a whole number below 2^64",
                excerpt(text)
            );
            Fault::new(field, message, "mend or remove the line")
        })
    }

    /// Nothing may follow.
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        match self.rest.take().filter(|rest| !rest.is_empty()) {
            None => Ok(()),
            Some(rest) => Err(Fault::new(
                "line",
                format!("has more fields than the format: \"{}\"", excerpt(rest)),
                "remove them, or say the format with --trace-format",
            )),
        }
    }
}

/// The beginning of a text, to be shown in a message.
pub(super) fn excerpt(text: &str) -> String {
    const CHARS: usize = 40;
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_in_either_form() {
        for (line, separator) in [
            ("1,x, 3", Separator::Comma),
            (" 1  x\t3\r", Separator::Blanks),
        ] {
            let mut fields = Fields::new(line, separator);
            assert_eq!(fields.number("a"), Ok(1));
            assert_eq!(fields.text("b"), Ok("x"));
            assert_eq!(fields.number("c"), Ok(3));
            assert!(fields.end().is_ok());
            assert_eq!(fields.number("d").unwrap_err().field, "d");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["x", "-1", "+1", "1.5", "18446744073709551616", "١"] {
            let fault = Fields::new(text, Separator::Blanks)
                .number("n")
                .unwrap_err();
            assert!(fault.message.contains(text), "{fault:?}");
        }
    }
}
