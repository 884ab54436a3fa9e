//! `init_series`: the host's rate from the start to the steady state.

use super::prelude::*;

const KIND: &str = "init_series";
const ONSET: Class = Class::new(KIND, "onset of collection", Bar::Within(0.1));
const PLATEAU: Class = Class::new(KIND, "plateau", Bar::Within(0.05));
const BETWEEN: Class = Class::new(KIND, "between", Bar::Within(0.15));
const BEFORE: Class = Class::new(KIND, "before the onset", Bar::Reported);
const HELD: Class = Class::new(KIND, "held by firmware", Bar::Reported).given();
const WAF: Class = Class::new(KIND, "write amplification of an interval", Bar::Reported);

/// Collection has begun when the rate falls below this share of the first.
const FALLEN: f64 = 0.75;
/// The plateau begins at this share of the series.
const PLATEAU_FROM: f64 = 0.6;
const OUTSTANDING: u64 = 512;
/// Marks for each drive write.
const MARKS: u64 = 400;

/// What the drive holds at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Start {
    Trimmed,
    Sequential,
    /// Every page was written once, in random order.
    Shuffled,
}

/// A row: the interval in drive writes.
struct Interval<'a> {
    row: &'a Row,
    from: f64,
    to: f64,
    mb_s: Option<f64>,
}

pub(super) fn plan(table: &Table, tasks: &mut Tasks<'_>) -> Result<(), MeasureError> {
    let mut all = Vec::new();
    for row in &table.rows {
        let Some(drive) = tasks.drive(row)? else {
            continue;
        };
        let columns = ["drive", "unit", "series", "pattern", "param", "start_state"];
        let mut key = [""; 6];
        for (field, column) in key.iter_mut().zip(columns) {
            *field = row.text(column)?;
        }
        let to = row.number("written_drive_multiples")?;
        let mb_s = row.measured("host_MBps")?;
        let intervals = of_key::<_, Vec<Interval<'_>>>(&mut all, (key, drive));
        let from = intervals.last().map_or(0.0, |last| last.to);
        if to <= from {
            return Err(row
                .wrong(
                    "written_drive_multiples",
                    "is not above that of the row before",
                    "order the rows of a series",
                )
                .into());
        }
        let interval = Interval {
            row,
            from,
            to,
            mb_s,
        };
        intervals.push(interval);
    }
    for (([_, unit, series, name, _, start], drive), intervals) in &all {
        let Some(first) = intervals.first() else {
            continue;
        };
        let parameter = first.row.number("param")?;
        let start_state = match *start {
            "none" => Ok(Start::Trimmed),
            "sequential fill" => Ok(Start::Sequential),
            "4 KiB shuffled fill" => Ok(Start::Shuffled),
            _ => Err("the state at the start is not defined"),
        };
        let defined =
            Pattern::named(name, parameter).and_then(|pattern| Ok((pattern, start_state?)));
        let (pattern, start_state) = match defined {
            Ok(defined) => defined,
            Err(reason) => {
                for interval in intervals {
                    tasks.leave_out(interval.row, reason)?;
                }
                continue;
            }
        };
        let curve = format!("{unit}, {series}, {name} {parameter} after {start}");
        let questions = questions(*drive, &curve, intervals, tasks.are_own)?;
        add(tasks, *drive, (pattern, start_state), intervals, questions)?;
    }
    Ok(())
}

fn questions(
    drive: Drive,
    curve: &str,
    intervals: &[Interval<'_>],
    are_own: bool,
) -> Result<Vec<Question>, String> {
    let last = intervals.last().map_or(0.0, |last| last.to);
    let rates: Option<Vec<f64>> = intervals.iter().map(|interval| interval.mb_s).collect();
    let bounds: Vec<(f64, f64)> = intervals.iter().map(|i| (i.from, i.to)).collect();
    let onset = rates.and_then(|rates| onset(&bounds, &rates));
    let mut questions = Vec::new();
    for interval in intervals {
        let is_plateau = interval.from >= PLATEAU_FROM * last;
        let class = match onset {
            _ if drive.name == "PM9A3" && is_plateau => HELD,
            _ if is_plateau => PLATEAU,
            Some(onset) if interval.to <= onset => BEFORE,
            _ => BETWEEN,
        };
        let mut cells = Cells {
            row: interval.row,
            drive,
            curve: curve.to_owned(),
            at: format!("{} drive writes", interval.to),
            x: interval.to,
            // As the steady uniform writes.
            is_fitted: are_own && is_plateau,
        };
        cells.ask(&mut questions, "host_MBps", class, 0.0)?;
        cells.ask(&mut questions, "waf_interval", WAF, 0.0)?;
        if let Some(onset) = onset.filter(|onset| (interval.from..interval.to).contains(onset)) {
            cells.is_fitted = false;
            questions.push(cells.question("onset_drive_writes", ONSET, onset, 0.0));
        }
    }
    Ok(questions)
}

/// Drive writes at which collection begins: within the first interval whose rate has fallen, where the rates before and after
/// it give what it took. `None` when it never falls.
fn onset(bounds: &[(f64, f64)], mb_s: &[f64]) -> Option<f64> {
    let first = *mb_s.first()?;
    let fallen = mb_s.iter().position(|rate| *rate < FALLEN * first)?;
    let before = *mb_s.get(fallen.checked_sub(1)?)?;
    let after = mb_s
        .get(fallen + 1)
        .copied()
        .unwrap_or(mb_s[fallen])
        .min(mb_s[fallen]);
    let (from, to) = bounds[fallen];
    // (to - from) / rate = x / before + (to - from - x) / after
    let share = (1.0 / after - 1.0 / mb_s[fallen]) / (1.0 / after - 1.0 / before);
    Some(from + (to - from) * share.clamp(0.0, 1.0))
}

fn add(
    tasks: &mut Tasks<'_>,
    drive: Drive,
    (pattern, start): (Pattern, Start),
    intervals: &[Interval<'_>],
    questions: Vec<Question>,
) -> Result<(), MeasureError> {
    let smaller = tasks.smaller(drive)?.with_small_buffer();
    let bytes = smaller.bytes(drive.capacity_bytes, PAGE);
    let pages = bytes / PAGE;
    let last = intervals.last().map_or(0.0, |last| last.to);
    let fill = if start == Start::Shuffled { pages } else { 0 };
    let counted = (last * pages as f64) as u64 + pages / 100;
    let lines: Vec<u64> = intervals.iter().map(|interval| interval.row.line).collect();
    let bounds: Vec<(f64, f64)> = intervals.iter().map(|i| (i.from, i.to)).collect();
    let answer = move |questions: &[Question]| {
        let past = match start {
            Start::Sequential => Past::Filled,
            Start::Trimmed | Start::Shuffled => Past::Empty,
        };
        let (mut device, nsid) = device(&smaller, bytes, past)?;
        let mut filling = Pattern::Permutation.draws(pages, 3);
        let mut draws = pattern.draws(pages, 1);
        let places = (0..).map(|n| {
            if n < fill {
                filling.next()
            } else {
                draws.next()
            }
        });
        let writes = places.map(|page| transfer(true, nsid, page, 1));
        let source = Source::new(OUTSTANDING, writes);
        let mark_every = (pages / MARKS).max(1);
        let marks = marks(&mut device, source, fill + counted, mark_every)?;
        let progress = Progress::new(marks, (fill * PAGE) as f64);
        let of = |(from, to): (f64, f64)| (from * bytes as f64, to * bytes as f64);
        let rates: Option<Vec<f64>> = bounds
            .iter()
            .map(|bounds| {
                let (from, to) = of(*bounds);
                progress.rate_mb_s(from, to)
            })
            .collect();
        // The smaller drive has its own dies, all of them: rates are the drive's.
        let onset = rates.and_then(|rates| onset(&bounds, &rates));
        let value = |question: &Question| {
            let at = lines.iter().position(|line| *line == question.row)?;
            let (from, to) = of(bounds[at]);
            match question.column.as_str() {
                "onset_drive_writes" => onset,
                "waf_interval" => progress
                    .write_amplification(from, to)
                    .map(|waf| waf * smaller.drive.overhead),
                _ => progress.rate_mb_s(from, to),
            }
        };
        Ok(questions.iter().map(value).collect())
    };
    tasks.add(questions, 3 * (fill + counted), Box::new(answer));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::onset;

    #[test]
    fn the_onset_is_within_the_interval_that_falls() {
        let bounds = [(0.0, 0.1), (0.1, 0.2), (0.2, 0.3)];
        // Half of the second interval at 100, half at 25: 40 on the whole.
        let onset_at = onset(&bounds, &[100.0, 40.0, 25.0]).unwrap();
        assert!((onset_at - 0.15).abs() < 1e-9, "{onset_at}");
        assert_eq!(onset(&bounds, &[100.0, 99.0, 80.0]), None);
    }
}
