//! Arithmetic in the value of an option, as fio has it: in parentheses, with `+ - * / % ^`, and units on its numbers:
//! `(2*1g + 512m)`.

/// Deepest nesting.
const DEPTH_MAX: u32 = 32;

/// The value of an expression in parentheses, if it is one and fits. `number` reads a number with its unit.
pub(crate) fn evaluate(text: &str, number: &dyn Fn(&str) -> Option<u64>) -> Option<u64> {
    let mut rest = Rest {
        text: text.trim(),
        number,
        depth: 0,
    };
    if !rest.text.starts_with('(') {
        return None;
    }
    let value = rest.operand()?;
    rest.text.is_empty().then(|| u64::try_from(value).ok())?
}

/// What is not read yet.
struct Rest<'a> {
    text: &'a str,
    number: &'a dyn Fn(&str) -> Option<u64>,
    depth: u32,
}

impl Rest<'_> {
    /// Takes the next character if it is one of these.
    fn take(&mut self, of: &[char]) -> Option<char> {
        let next = self.text.chars().next().filter(|next| of.contains(next))?;
        self.text = self.text[next.len_utf8()..].trim_start();
        Some(next)
    }

    fn sum(&mut self) -> Option<i128> {
        let mut value = self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            let other = self.product()?;
            value = match operator {
                '+' => value.checked_add(other)?,
                _ => value.checked_sub(other)?,
            };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<i128> {
        let mut value = self.power()?;
        while let Some(operator) = self.take(&['*', '/', '%']) {
            let other = self.power()?;
            value = match operator {
                '*' => value.checked_mul(other)?,
                '/' => value.checked_div(other)?,
                _ => value.checked_rem(other)?,
            };
        }
        Some(value)
    }

    fn power(&mut self) -> Option<i128> {
        let base = self.operand()?;
        match self.take(&['^']) {
            // From the right, as mathematicians read it.
            Some(_) => {
                self.depth += 1;
                (self.depth <= DEPTH_MAX).then_some(())?;
                let exponent = u32::try_from(self.power()?).ok()?;
                self.depth -= 1;
                base.checked_pow(exponent)
            }
            None => Some(base),
        }
    }

    fn operand(&mut self) -> Option<i128> {
        self.depth += 1;
        (self.depth <= DEPTH_MAX).then_some(())?;
        let value = if self.take(&['-']).is_some() {
            self.operand()?.checked_neg()
        } else if self.take(&['(']).is_some() {
            let value = self.sum()?;
            self.take(&[')']).map(|_| value)
        } else {
            let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '.');
            let end = self.text.find(ends).unwrap_or(self.text.len());
            let (number, rest) = self.text.split_at(end);
            self.text = rest.trim_start();
            (self.number)(number).map(i128::from)
        };
        self.depth -= 1;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{parse_bytes, parse_time};
    use meldsim::engine::Duration;

    fn value(text: &str) -> Option<u64> {
        evaluate(text, &|number| number.parse().ok())
    }

    #[test]
    fn operators_bind_as_usual() {
        for (text, expected) in [
            ("(1+2*3)", 7),
            ("((1+2)*3)", 9),
            ("(2^3^2)", 512),
            ("(17 % 5 - 1)", 1),
            ("(100/7)", 14),
            ("(-(2-5))", 3),
        ] {
            assert_eq!(value(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_expression_has_no_value() {
        let deep = format!("{}1{}", "(".repeat(100), ")".repeat(100));
        let powers = format!("({}1)", "1^".repeat(100));
        for text in [
            "", "7", "()", "(", "(1", "(1))", "(1+)", "(1/0)", "(1%0)", "(1-2)", "(2^-1)",
            "(9^99)", "(1 2)", "(a)", "(1)2", &deep, &powers,
        ] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_have_units_and_times_are_microseconds() {
        assert_eq!(parse_bytes("(2*1g+512m)"), Ok(5 << 29));
        assert_eq!(parse_time("(1000*2)"), Ok(Duration::from_ms(2)));
        assert_eq!(parse_time("(2s/4)"), Ok(Duration::from_ms(500)));
    }
}
