//! How a simulated cell is judged: its error beyond what the measurement resolves, the bar of its class, and the votes.
//!
//! ```text
//!   Question { measured, class } + simulated --error--> Cell --by drive and kind--> Line: cells, median, 90th percentile
//!                                                            --by kind, a curve has one vote--> Line, bar, whether it holds
//! ```

use super::order::distinct;

/// What is asked of a cell's error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bar {
    /// Relative: of the votes nine of ten are within it.
    Within(f64),
    /// Relative: the median is within the first, nine of ten within the second.
    MedianAndMost(f64, f64),
    /// A factor up or down: nine of ten are within it.
    Factor(f64),
    /// Absolute, in the unit of the column: nine of ten are within it.
    Absolute(f64),
    /// None: it is reported.
    Reported,
}

/// Cells that are judged by one bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// The file without its ending.
    pub kind: &'static str,
    /// What is measured: `IOPS and p50`.
    pub what: &'static str,
    /// What is asked of them.
    pub bar: Bar,
    /// Any model meets it: it is counted apart.
    pub is_given: bool,
}

impl Class {
    pub(super) const fn new(kind: &'static str, what: &'static str, bar: Bar) -> Class {
        Class {
            kind,
            what,
            bar,
            is_given: false,
        }
    }

    /// One that any model meets, or whose value is an input.
    pub(super) const fn given(self) -> Class {
        Class {
            is_given: true,
            ..self
        }
    }
}

/// A measured cell before it is simulated.
#[derive(Clone, Debug)]
pub struct Question {
    /// How it is judged.
    pub class: Class,
    /// The file that has it.
    pub file: String,
    /// Its line in the file.
    pub row: u64,
    /// The drive.
    pub drive: &'static str,
    /// Its column there.
    pub column: String,
    /// What its curve has in common.
    pub curve: String,
    /// Where on the curve it is: `depth 16`.
    pub at: String,
    /// The same as a number, for charts.
    pub x: f64,
    /// What was measured.
    pub measured: f64,
    /// What the measurement resolves, in its unit.
    pub resolution: f64,
    /// The drive's profile was fitted to it.
    pub is_fitted: bool,
}

/// A cell that was simulated.
#[derive(Clone, Debug)]
pub struct Cell {
    /// What was asked.
    pub question: Question,
    /// What the simulation gave.
    pub simulated: f64,
    /// Relative; of a factor what it is above 1; of an absolute bar in the column's unit.
    pub error: f64,
}

impl Cell {
    /// Judges what a simulation gave.
    pub fn new(question: Question, simulated: f64) -> Cell {
        let error = error(&question, simulated);
        Cell {
            question,
            simulated,
            error,
        }
    }
}

fn error(question: &Question, simulated: f64) -> f64 {
    let measured = question.measured;
    let off = simulated - measured;
    // What is left of the difference beyond the resolution.
    let beyond = (off.abs() - question.resolution).max(0.0);
    let nearest = measured + beyond.copysign(off);
    match question.class.bar {
        Bar::Absolute(_) => beyond,
        Bar::Factor(_) if nearest > 0.0 && measured > 0.0 => {
            (nearest / measured).max(measured / nearest) - 1.0
        }
        Bar::Factor(_) => f64::INFINITY,
        _ if measured != 0.0 => beyond / measured.abs(),
        _ if beyond == 0.0 => 0.0,
        _ => f64::INFINITY,
    }
}

/// The errors of some cells, summed up.
#[derive(Clone, Debug)]
pub struct Line {
    /// How they are judged.
    pub class: Class,
    /// Of one drive, or of all.
    pub drive: Option<&'static str>,
    /// Of how many cells.
    pub cells: usize,
    /// Of these, those the profile was fitted to.
    pub fitted: usize,
    /// Curves, each of which has one vote.
    pub curves: usize,
    /// The error that half of the votes do not exceed.
    pub median: f64,
    /// The error that nine of ten do not exceed.
    pub most: f64,
}

impl Line {
    /// Whether the bar holds; `None` without one.
    pub fn holds(&self) -> Option<bool> {
        Some(match self.class.bar {
            Bar::Within(bar) | Bar::Absolute(bar) => self.most <= bar,
            Bar::MedianAndMost(median, most) => self.median <= median && self.most <= most,
            Bar::Factor(factor) => self.most <= factor - 1.0,
            Bar::Reported => return None,
        })
    }
}

/// Sums up the cells of each class, of each drive when `by_drive`.
pub fn lines(cells: &[Cell], by_drive: bool) -> Vec<Line> {
    let key = |cell: &Cell| {
        let drive = by_drive.then_some(cell.question.drive);
        (cell.question.class, drive)
    };
    let line = |(class, drive)| {
        let of = cells.iter().filter(|cell| key(cell) == (class, drive));
        line(class, drive, &of.collect::<Vec<_>>())
    };
    distinct(cells.iter().map(key))
        .into_iter()
        .map(line)
        .collect()
}

fn line(class: Class, drive: Option<&'static str>, cells: &[&Cell]) -> Line {
    let curve = |cell: &Cell| {
        let question = &cell.question;
        let (curve, column) = (question.curve.clone(), question.column.clone());
        (question.drive, curve, column)
    };
    let mut curves: Vec<_> = cells.iter().map(|cell| curve(cell)).collect();
    curves.sort();
    // The cells of a curve share its one vote.
    let of_curve =
        |of: &_| curves.partition_point(|c| c <= of) - curves.partition_point(|c| c < of);
    let votes = cells.iter().map(|cell| {
        let cells = of_curve(&curve(cell));
        (cell.error, 1.0 / cells as f64)
    });
    let votes: Vec<(f64, f64)> = votes.collect();
    let mut distinct = curves.clone();
    distinct.dedup();
    Line {
        class,
        drive,
        cells: cells.len(),
        fitted: cells.iter().filter(|cell| cell.question.is_fitted).count(),
        curves: distinct.len(),
        median: quantile(&votes, 0.5),
        most: quantile(&votes, 0.9),
    }
}

/// The least error that such a share of the votes does not exceed.
fn quantile(votes: &[(f64, f64)], share: f64) -> f64 {
    let mut votes = votes.to_vec();
    votes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = votes.iter().map(|vote| vote.1).sum();
    let mut sum = 0.0;
    for (error, vote) in &votes {
        sum += vote;
        // Thirds and the like do not add up to the last bit.
        if sum >= share * all * (1.0 - 1e-9) {
            return *error;
        }
    }
    f64::NAN
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(bar: Bar, measured: f64, resolution: f64) -> Question {
        Question {
            class: Class::new("kind", "what", bar),
            file: "x.csv".to_owned(),
            row: 3,
            drive: "D",
            column: "us".to_owned(),
            curve: "c".to_owned(),
            at: String::new(),
            x: 0.0,
            measured,
            resolution,
            is_fitted: false,
        }
    }

    #[test]
    fn an_error_counts_beyond_the_resolution() {
        for (bar, resolution, simulated, expected) in [
            (Bar::Within(0.1), 0.0, 11.0, 0.1),
            (Bar::Within(0.1), 1.0, 11.0, 0.0),
            (Bar::Within(0.1), 1.0, 8.0, 0.1),
            (Bar::Absolute(1.0), 1.0, 13.0, 2.0),
            (Bar::Factor(2.0), 0.0, 5.0, 1.0),
            (Bar::Factor(2.0), 0.0, 20.0, 1.0),
            (Bar::Factor(2.0), 0.0, 0.0, f64::INFINITY),
        ] {
            let cell = Cell::new(question(bar, 10.0, resolution), simulated);
            let right = (cell.error - expected).abs() < 1e-9 || cell.error == expected;
            assert!(right, "{bar:?} {simulated}: {}", cell.error);
        }
    }

    #[test]
    fn a_curve_has_one_vote() {
        let cell = |curve: &str, simulated| {
            let mut question = question(Bar::Within(0.05), 100.0, 0.0);
            question.curve = curve.to_owned();
            Cell::new(question, simulated)
        };
        let long = (0..9).map(|_| cell("long", 120.0));
        let cells: Vec<Cell> = long.chain([cell("b", 100.0), cell("c", 101.0)]).collect();
        let line = &lines(&cells, false)[0];
        assert_eq!((line.cells, line.curves), (11, 3));
        assert!((line.median - 0.01).abs() < 1e-9, "{}", line.median);
        assert!((line.most - 0.2).abs() < 1e-9, "{}", line.most);
        assert_eq!(line.holds(), Some(false));
    }

    #[test]
    fn lines_are_by_drive_when_asked() {
        let mut other = question(Bar::Reported, 1.0, 0.0);
        other.drive = "E";
        let cells = [
            Cell::new(question(Bar::Reported, 1.0, 0.0), 1.0),
            Cell::new(other, 2.0),
        ];
        assert_eq!(lines(&cells, false).len(), 1);
        let by_drive = lines(&cells, true);
        assert_eq!(by_drive.len(), 2);
        assert_eq!(by_drive[1].median, 1.0);
        assert_eq!(by_drive[0].holds(), None);
    }
}
