//! `waf_permutation_profile`: write amplification over passes, each of which writes every block once.

use super::prelude::*;

const KIND: &str = "waf_permutation_profile";
const ONSET: Class = Class::new(KIND, "onset, in drive writes", Bar::Absolute(0.05));
const MEAN: Class = Class::new(KIND, "mean of a pass", Bar::Within(0.05));
const NONE: Class = Class::new(KIND, "before the onset", Bar::Within(0.05)).given();
const PROFILE: Class = Class::new(KIND, "within a pass", Bar::Reported);

/// Collection shows when more than this is programmed for each byte written.
const COLLECTING: f64 = 1.05;
const OUTSTANDING: u64 = 128;
/// Passes until they are alike, and passes that are averaged.
const PASSES: u64 = 4;
const AVERAGED: u64 = 3;
/// Intervals of a pass in which its onset is looked for.
const STEPS: u64 = 100;

pub(super) fn plan(table: &Table, tasks: &mut Tasks<'_>) -> Result<(), MeasureError> {
    tasks.leave_out_columns(table, &["waf_lowest", "waf_highest"], "a spread");
    let mut drives: Vec<(Drive, Vec<&Row>)> = Vec::new();
    for row in &table.rows {
        if let Some(drive) = tasks.drive(row)? {
            of_key(&mut drives, drive).push(row);
        }
    }
    for (drive, rows) in drives {
        let mut questions = Vec::new();
        let mut asked = Vec::new();
        let mut has_onset = false;
        for row in rows {
            let (from, to) = (row.number("pass_from")?, row.number("pass_to")?);
            if to <= from {
                let remedy = "write a larger number than in pass_from";
                return Err(row
                    .wrong("pass_to", "is not above pass_from", remedy)
                    .into());
            }
            let is_start = row.number("n_passes")? <= 1.0;
            let waf = row.measured("waf_mean")?;
            let is_collecting = waf.is_some_and(|waf| waf > COLLECTING);
            let is_mean = !is_start && to - from > 0.99;
            let class = match is_start {
                false if is_mean => MEAN,
                true if !is_collecting && !has_onset => NONE,
                _ => PROFILE,
            };
            let cells = Cells {
                row,
                drive,
                curve: if is_start { "start" } else { "pass" }.to_owned(),
                at: format!("{from} to {to} drive writes"),
                x: to,
                is_fitted: is_mean && tasks.are_own,
            };
            cells.ask(&mut questions, "waf_mean", class, 0.0)?;
            if is_start && is_collecting && !has_onset {
                has_onset = true;
                let (middle, half) = ((from + to) / 2.0, (to - from) / 2.0);
                questions.push(cells.question("onset_drive_writes", ONSET, middle, half));
            }
            asked.push((row.line, from, to, is_start));
        }
        add(tasks, drive, questions, asked)?;
    }
    Ok(())
}

fn add(
    tasks: &mut Tasks<'_>,
    drive: Drive,
    questions: Vec<Question>,
    asked: Vec<(u64, f64, f64, bool)>,
) -> Result<(), MeasureError> {
    let smaller = tasks.smaller(drive)?.with_small_buffer();
    let bytes = smaller.bytes(drive.capacity_bytes, PAGE);
    let pages = bytes / PAGE;
    let passes = PASSES + AVERAGED;
    let cost = 3 * passes * pages;
    let answer = move |questions: &[Question]| {
        let (mut device, nsid) = device(&smaller, bytes, Past::Empty)?;
        let source = writes(nsid, OUTSTANDING, Pattern::Permutation, pages);
        let requests = passes * pages + pages / 100;
        let mark_every = (pages / STEPS / 4).max(1);
        let progress = Progress::new(marks(&mut device, source, requests, mark_every)?, 0.0);
        let waf = |from: f64, to: f64| {
            progress.write_amplification(from * bytes as f64, to * bytes as f64)
        };
        let onset = || {
            let mut steps = (0..passes * STEPS).map(|step| step as f64 / STEPS as f64);
            steps.find(|from| {
                let waf = waf(*from, from + 1.0 / STEPS as f64);
                waf.is_some_and(|waf| waf > COLLECTING)
            })
        };
        let value = |question: &Question| {
            let row = asked.iter().find(|(line, ..)| *line == question.row);
            let (_, from, to, is_start) = *row?;
            match question.column.as_str() {
                "onset_drive_writes" => onset(),
                _ if is_start => waf(from, to),
                _ => {
                    let passes = (0..AVERAGED).map(|pass| (PASSES + pass) as f64);
                    let each = passes.map(|pass| waf(pass + from, pass + to));
                    let each: Option<Vec<f64>> = each.collect();
                    Some(each?.iter().sum::<f64>() / AVERAGED as f64)
                }
            }
        };
        Ok(questions.iter().map(value).collect())
    };
    tasks.add(questions, cost, Box::new(answer));
    Ok(())
}
