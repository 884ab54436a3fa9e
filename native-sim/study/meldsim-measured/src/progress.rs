//! How a run went: rates and write amplification between any two amounts written, from its marks.

use super::sources::Mark;

/// The marks of a run, by what was written.
pub(super) struct Progress(Vec<Mark>);

impl Progress {
    /// `from_bytes` had been written when it began.
    pub(super) fn new(marks: Vec<Mark>, from_bytes: f64) -> Progress {
        let from = at(&marks, from_bytes);
        let since = marks.iter().filter(|mark| mark.written_bytes > from_bytes);
        let all = std::iter::once(&from).chain(since);
        let relative = all.map(|mark| Mark {
            at_s: mark.at_s - from.at_s,
            written_bytes: mark.written_bytes - from.written_bytes,
            programmed_bytes: mark.programmed_bytes - from.programmed_bytes,
        });
        Progress(relative.collect())
    }

    /// The rate at which the host wrote between two amounts.
    pub(super) fn rate_mb_s(&self, from_bytes: f64, to_bytes: f64) -> Option<f64> {
        let (from, to) = self.between(from_bytes, to_bytes)?;
        let seconds = to.at_s - from.at_s;
        (seconds > 0.0).then(|| (to.written_bytes - from.written_bytes) / seconds / 1e6)
    }

    /// Bytes programmed for each that the host wrote between two amounts.
    pub(super) fn write_amplification(&self, from_bytes: f64, to_bytes: f64) -> Option<f64> {
        let (from, to) = self.between(from_bytes, to_bytes)?;
        let written = to.written_bytes - from.written_bytes;
        (written > 0.0).then(|| (to.programmed_bytes - from.programmed_bytes) / written)
    }

    fn between(&self, from_bytes: f64, to_bytes: f64) -> Option<(Mark, Mark)> {
        let last = self.0.last()?.written_bytes;
        // The last mark may be some requests short of the end.
        let is_within = to_bytes <= last * 1.01 && from_bytes < to_bytes;
        is_within.then(|| (at(&self.0, from_bytes), at(&self.0, to_bytes)))
    }
}

/// Where the run was when so much was written.
fn at(marks: &[Mark], bytes: f64) -> Mark {
    let next = marks.partition_point(|mark| mark.written_bytes < bytes);
    match (
        next.checked_sub(1).map(|before| marks[before]),
        marks.get(next),
    ) {
        (None, Some(first)) => *first,
        (Some(last), None) => last,
        (Some(before), Some(after)) => {
            let share =
                (bytes - before.written_bytes) / (after.written_bytes - before.written_bytes);
            let mix = |a: f64, b: f64| a + (b - a) * share;
            Mark {
                at_s: mix(before.at_s, after.at_s),
                written_bytes: bytes,
                programmed_bytes: mix(before.programmed_bytes, after.programmed_bytes),
            }
        }
        (None, None) => Mark::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_interpolated() {
        let mark = |at_s, written_bytes, programmed_bytes| Mark {
            at_s,
            written_bytes,
            programmed_bytes,
        };
        let marks = vec![
            mark(0.0, 0.0, 0.0),
            mark(1.0, 1e6, 1e6),
            mark(3.0, 2e6, 4e6),
        ];
        let progress = Progress::new(marks.clone(), 0.0);
        assert_eq!(progress.rate_mb_s(0.0, 1e6), Some(1.0));
        assert_eq!(progress.rate_mb_s(1e6, 1.5e6), Some(0.5));
        assert_eq!(progress.write_amplification(0.0, 2e6), Some(2.0));
        assert_eq!(progress.rate_mb_s(0.0, 3e6), None);
        let later = Progress::new(marks, 1e6);
        assert_eq!(later.rate_mb_s(0.0, 1e6), Some(0.5));
    }
}
