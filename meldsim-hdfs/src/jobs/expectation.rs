//! What must hold of the medians.

use super::figure::{FIGURES, Figure};
use super::suite::{Outcome, Suite};

/// `job:variant[/variant][:figure] relation number`.
#[derive(Clone, Debug)]
pub(super) struct Expectation {
    text: String,
    job: String,
    variant: String,
    /// The variant to divide by.
    base: Option<String>,
    figure: &'static Figure,
    relation: Relation,
    number: f64,
}

/// How the value must stand to the number.
type Relation = (&'static str, fn(f64, f64) -> bool);

const RELATIONS: [Relation; 4] = [
    (">=", |value, number| value >= number),
    ("<=", |value, number| value <= number),
    (">", |value, number| value > number),
    ("<", |value, number| value < number),
];

impl Expectation {
    /// Parses an expression; a message names it and the place.
    pub(super) fn parse(text: &str) -> Result<Expectation, String> {
        let mut parser = Parser { text, at: 0 };
        let job = parser.name("the name of a job")?;
        if !parser.next(":") {
            return Err(parser.must_be("':'"));
        }
        let variant = parser.name("the name of a variant")?;
        let base = match parser.next("/") {
            true => Some(parser.name("the name of a variant")?),
            false => None,
        };
        let figure = match parser.next(":") {
            true => {
                parser.space();
                let at = parser.at;
                let key = parser.name("the name of a figure")?;
                let keys = || FIGURES.each_ref().map(|figure| figure.key).join(", ");
                let unknown = || Parser { text, at }.must_be(&format!("one of {}", keys()));
                Figure::of_key(&key).ok_or_else(unknown)?
            }
            false => Figure::of_key(Figure::headline(&job)).unwrap_or(&FIGURES[0]),
        };
        let relation = RELATIONS.into_iter().find(|(sign, _)| parser.next(sign));
        let relation = relation.ok_or_else(|| parser.must_be("one of >= <= > <"))?;
        parser.space();
        let number = text[parser.at..].trim_end().parse().ok();
        let number = number.filter(|number: &f64| number.is_finite());
        Ok(Expectation {
            text: text.to_owned(),
            job,
            variant,
            base,
            figure,
            relation,
            number: number.ok_or_else(|| parser.must_be("a number to the end"))?,
        })
    }

    /// Compares the medians.
    pub(super) fn check(&self, suite: &Suite) -> Outcome {
        let outcome = |holds, value, message| Outcome {
            expression: self.text.clone(),
            holds,
            value,
            message,
        };
        let median = |variant: &str| {
            let group = suite.group(&self.job, variant);
            let group = group.ok_or_else(|| format!("no run of {} on {variant}", self.job))?;
            let spread = group.figure(self.figure.key);
            let none = || {
                format!(
                    "no {} in the runs of {} on {variant}",
                    self.figure.key, self.job
                )
            };
            spread.map(|spread| spread.median).ok_or_else(none)
        };
        let (value, base) = match (median(&self.variant), self.base.as_deref().map(median)) {
            (Err(message), _) | (_, Some(Err(message))) => return outcome(false, None, message),
            (Ok(value), Some(Ok(base))) => (value, Some(base)),
            (Ok(value), None) => (value, None),
        };
        let quotient = value / base.unwrap_or(1.0);
        let message = match base {
            None => self.figure.text(value),
            Some(base) => format!(
                "{quotient:.3} ({} / {})",
                self.figure.text(value),
                self.figure.text(base)
            ),
        };
        outcome(
            (self.relation.1)(quotient, self.number),
            Some(quotient),
            message,
        )
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches(' ').len();
    }

    fn next(&mut self, sign: &str) -> bool {
        self.space();
        let found = self.text[self.at..].starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    fn name(&mut self, what: &str) -> Result<String, String> {
        self.space();
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_alphanumeric() || "-_.@".contains(c);
        let name = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        if name.is_empty() {
            return Err(self.must_be(what));
        }
        self.at += name.len();
        Ok(name.to_owned())
    }

    fn must_be(&self, what: &str) -> String {
        let place = self.text[..self.at].chars().count() + 1;
        format!("'{}', character {place}: must be {what}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_expressions_are_named_with_their_place() {
        for (text, place) in [
            ("", 1),
            ("scan>=1", 5),
            ("scan:>=1", 6),
            ("scan:melded/>=1", 13),
            ("scan:melded:speed>=1", 13),
            ("scan:melded=>1", 12),
            ("scan:melded>=", 14),
            ("scan:melded>=fast", 14),
            ("scan:melded>=1 or 2", 14),
            ("scan:melded>=NaN", 14),
        ] {
            let message = Expectation::parse(text).unwrap_err();
            let start = format!("'{text}', character {place}: must be ");
            assert!(message.starts_with(&start), "{message}");
        }
    }
}
