//! How a simulated cell is judged: its error beyond what the measurement resolves, the bar of its class, and the votes.
//!
//! ```text
//!   Question { measured, class } + simulated --error--> Cell --by drive and kind--> Line: cells, median, 90th percentile
//!                                                            --by kind, a curve has one vote--> Line, bar, whether it holds
//! ```

/// What is asked of a cell's error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bar {
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
pub(crate) struct Class {
    /// The file without its ending.
    pub(crate) kind: &'static str,
    /// What is measured: `IOPS and p50`.
    pub(crate) what: &'static str,
    pub(crate) bar: Bar,
    /// Any model meets it: it is counted apart.
    pub(crate) is_given: bool,
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
pub(crate) struct Question {
    pub(crate) class: Class,
    pub(crate) file: String,
    /// Its line in the file.
    pub(crate) row: u64,
    pub(crate) drive: &'static str,
    pub(crate) column: String,
    /// What its curve has in common.
    pub(crate) curve: String,
    /// Where on the curve it is: `depth 16`.
    pub(crate) at: String,
    /// The same as a number, for charts.
    pub(crate) x: f64,
    pub(crate) measured: f64,
    /// What the measurement resolves, in its unit.
    pub(crate) resolution: f64,
    /// The drive's profile was fitted to it.
    pub(crate) is_fitted: bool,
}

/// A cell that was simulated.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) question: Question,
    pub(crate) simulated: f64,
    /// Relative; of a factor what it is above 1; of an absolute bar in the column's unit.
    pub(crate) error: f64,
}

impl Cell {
    pub(crate) fn new(question: Question, simulated: f64) -> Cell {
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
pub(super) struct Line {
    pub(super) class: Class,
    /// Of one drive, or of all.
    pub(super) drive: Option<&'static str>,
    pub(super) cells: usize,
    /// Of these, those the profile was fitted to.
    pub(super) fitted: usize,
    pub(super) curves: usize,
    pub(super) median: f64,
    pub(super) most: f64,
}

impl Line {
    /// Whether the bar holds; `None` without one.
    pub(super) fn holds(&self) -> Option<bool> {
        Some(match self.class.bar {
            Bar::Within(bar) | Bar::Absolute(bar) => self.most <= bar,
            Bar::MedianAndMost(median, most) => self.median <= median && self.most <= most,
            Bar::Factor(factor) => self.most <= factor - 1.0,
            Bar::Reported => return None,
        })
    }
}

/// Sums up the cells of each class, of each drive when `by_drive`.
pub(super) fn lines(cells: &[Cell], by_drive: bool) -> Vec<Line> {
    let key = |cell: &Cell| {
        let drive = by_drive.then_some(cell.question.drive);
        (cell.question.class, drive)
    };
    let mut keys = Vec::new();
    for cell in cells {
        if !keys.contains(&key(cell)) {
            keys.push(key(cell));
        }
    }
    let line = |(class, drive)| {
        let of = cells.iter().filter(|cell| key(cell) == (class, drive));
        line(class, drive, &of.collect::<Vec<_>>())
    };
    keys.into_iter().map(line).collect()
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
