//! Sequential runs: the melded layout.

use super::pages::{Token, WordlinePages};

/// What runs hand over: pages of a wordline of one log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunPages<P = u32> {
    pub(crate) log_id: u32,
    pub(crate) pages: WordlinePages<P>,
    /// Or else they are to be packed together with others.
    pub(crate) whole: bool,
}

#[derive(Debug)]
struct SequentialRun<P> {
    space: u32,
    next: u64,
    /// When it last grew, in pages gathered.
    grown: u64,
    partial: WordlinePages<P>,
}

/// Gathers pages in the melded layout. What it hands over is appended to a list of the caller's.
#[derive(Debug)]
pub(crate) struct SequentialRuns<P = u32> {
    bound: usize,
    pages_per_wordline: u32,
    logs: u32,
    runs: Vec<SequentialRun<P>>,
    /// The run that grew last: most pages continue it.
    current: usize,
    gathered: u64,
}

impl<P: Token> SequentialRuns<P> {
    pub(crate) fn new(bound: u32, pages_per_wordline: u32, logs: u32) -> SequentialRuns<P> {
        SequentialRuns {
            bound: bound as usize,
            pages_per_wordline,
            logs,
            runs: Vec::new(),
            current: 0,
            gathered: 0,
        }
    }

    /// Adds the page that is logical page `logical` of `space`; hands over completed wordlines and
    /// what will not be completed.
    pub(crate) fn push(&mut self, space: u32, logical: u64, page: P, out: &mut Vec<RunPages<P>>) {
        let expects = |run: &SequentialRun<P>| run.next == logical && run.space == space;
        if !self.runs.get(self.current).is_some_and(expects) {
            self.current = match self.runs.iter().position(expects) {
                Some(run) => run,
                None => self.open(space, logical, out),
            };
        }
        self.gathered += 1;
        let log_id = self.log_id(logical);
        let run = &mut self.runs[self.current];
        run.next = logical + 1;
        run.grown = self.gathered;
        if let Some(pages) = run.partial.complete(page, self.pages_per_wordline) {
            let whole = true;
            out.push(RunPages {
                log_id,
                pages,
                whole,
            });
        } else if self.logs > 1 && run.next % u64::from(self.pages_per_wordline) == 0 {
            self.give_up(self.current, out);
        }
    }

    fn log_id(&self, logical: u64) -> u32 {
        match self.logs {
            1 => 0,
            logs => (logical / u64::from(self.pages_per_wordline) % u64::from(logs)) as u32,
        }
    }

    /// A run for a new writer; at the bound, in place of the one that grew least recently.
    fn open(&mut self, space: u32, logical: u64, out: &mut Vec<RunPages<P>>) -> usize {
        let run = SequentialRun {
            space,
            next: logical,
            grown: self.gathered,
            partial: WordlinePages::NONE,
        };
        if self.runs.len() < self.bound {
            self.runs.push(run);
            return self.runs.len() - 1;
        }
        let by_age = |&run: &usize| self.runs[run].grown;
        let oldest = (0..self.runs.len()).min_by_key(by_age).unwrap_or(0);
        self.give_up(oldest, out);
        self.runs[oldest] = run;
        oldest
    }

    /// Hands over a run's unfinished wordline.
    fn give_up(&mut self, run: usize, out: &mut Vec<RunPages<P>>) {
        let run = &mut self.runs[run];
        if let Some(pages) = run.partial.take() {
            let last = run.next - 1;
            let log_id = self.log_id(last);
            let whole = false;
            out.push(RunPages {
                log_id,
                pages,
                whole,
            });
        }
    }

    /// Hands over every unfinished wordline. The runs go on.
    pub(crate) fn close(&mut self, out: &mut Vec<RunPages<P>>) {
        for run in 0..self.runs.len() {
            self.give_up(run, out);
        }
    }

    pub(crate) fn memory(&self) -> u64 {
        (self.runs.capacity() * size_of::<SequentialRun<P>>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages<const N: usize>(pages: [u32; N]) -> WordlinePages {
        pages.into_iter().collect()
    }

    /// Writers take turns with pieces of so many pages; what is gathered, in order.
    fn writers(
        runs: &mut SequentialRuns,
        starts: &[u64],
        piece: u64,
        pieces: u64,
    ) -> Vec<RunPages> {
        let mut gathered = Vec::new();
        for chunk in 0..pieces {
            for writer in starts {
                for page in 0..piece {
                    let logical = writer + chunk * piece + page;
                    runs.push(0, logical, logical as u32, &mut gathered);
                }
            }
        }
        gathered
    }

    #[test]
    fn interleaved_writers_each_get_their_wordlines() {
        let mut runs = SequentialRuns::new(4, 3, 1);
        // In commands of four pages, which is no multiple of three.
        let gathered = writers(&mut runs, &[100, 200], 4, 3);
        assert_eq!(gathered.len(), 8);
        for RunPages { pages, whole, .. } in gathered {
            assert!(whole);
            let pages = pages.as_slice();
            assert_eq!(pages, [pages[0], pages[0] + 1, pages[0] + 2]);
        }
    }

    #[test]
    fn runs_are_bounded_and_the_rest_is_handed_over() {
        let mut runs = SequentialRuns::new(2, 3, 1);
        let mut gathered = writers(&mut runs, &[0, 100, 200, 300, 400], 1, 1);
        runs.close(&mut gathered);
        let pages: Vec<u32> = gathered
            .iter()
            .map(|gathered| gathered.pages.as_slice()[0])
            .collect();
        // Three runs were closed, oldest first; two were open.
        assert_eq!(pages, [0, 100, 200, 400, 300]);
        assert!(gathered.iter().all(|gathered| !gathered.whole));
    }

    #[test]
    fn the_logical_page_decides_the_log_of_a_wordline() {
        let mut runs = SequentialRuns::new(2, 3, 4);
        // From the second page of wordline 1 to the first of wordline 3.
        let mut gathered = writers(&mut runs, &[4], 6, 1);
        runs.close(&mut gathered);
        let expected = [
            (1, pages([4, 5]), false),
            (2, pages([6, 7, 8]), true),
            (3, pages([9]), false),
        ];
        let expected = expected.map(|(log_id, pages, whole)| RunPages {
            log_id,
            pages,
            whole,
        });
        assert_eq!(gathered, expected);
    }
}
