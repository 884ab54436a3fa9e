//! Where times of a device lie on the axis of a timeline.

use meldsim::Instant;

/// Puts times of a device on an axis of nanoseconds: its own time, or the wall's, which it follows piece by piece.
#[derive(Clone, Debug, Default)]
pub struct Clock(Vec<Piece>);

/// From `from` on, which is at `ns`, a nanosecond of the device takes `dilation` of the axis.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: Instant,
    ns: u64,
    dilation: f64,
}

impl Clock {
    /// A device's time goes on at another speed. In the order of time.
    pub fn push(&mut self, from: Instant, ns: u64, dilation: f64) {
        self.0.push(Piece { from, ns, dilation });
    }

    /// Whether the axis is the device's own time.
    pub fn is_own(&self) -> bool {
        self.0.is_empty()
    }

    /// The time on the axis. What is before the first piece goes back at its speed.
    pub fn at(&self, instant: Instant) -> u64 {
        let after = self.0.partition_point(|piece| piece.from <= instant);
        let Some(piece) = self.0.get(after.saturating_sub(1)) else {
            return instant.as_ps() / 1000;
        };
        let since = |from: Instant, to: Instant| {
            (to.saturating_since(from).as_ps() as f64 * piece.dilation / 1000.0) as u64
        };
        let before = since(instant, piece.from);
        (piece.ns + since(piece.from, instant)).saturating_sub(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_follows_the_wall_piece_by_piece() {
        let at = |us: u64| Instant::from_ps(us * 1_000_000);
        assert_eq!(Clock::default().at(at(7)), 7000, "its own time");
        let mut clock = Clock::default();
        clock.push(at(10), 1_000_000, 100.0);
        clock.push(at(20), 5_000_000, 1.0);
        assert_eq!(clock.at(at(10)), 1_000_000);
        assert_eq!(clock.at(at(13)), 1_300_000);
        assert_eq!(clock.at(at(9)), 900_000, "before it was looked at");
        assert_eq!(clock.at(at(23)), 5_003_000);
    }
}
