//! Round robin, and weighted round robin with urgent priority class (Base specification 2.0, Command Arbitration).

use std::collections::VecDeque;

use super::{Arbitration, Priority, Shares};
use crate::policy::{Given, OptionError};

const CLASSES: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Queue {
    priority: Priority,
    waiting: u32,
}

/// Queues of one priority class.
#[derive(Clone, Debug, Default)]
struct Class {
    /// Those with commands, the next one first.
    ready: VecDeque<u32>,
    /// What the first one may still fetch of its burst; zero when its turn has not begun.
    burst_left: u32,
}

/// Knows how many commands wait in each queue, and which is next. Constant time for each command.
#[derive(Debug)]
pub(super) struct RoundRobin {
    is_weighted: bool,
    shares: Shares,
    queues: Vec<Queue>,
    classes: [Class; CLASSES],
    /// The weighted class whose turn it is, and what it may still fetch.
    turn: usize,
    credit: u32,
}

pub(super) fn make(
    _: &mut Given<'_>,
    shares: &Shares,
) -> Result<Box<dyn Arbitration>, OptionError> {
    Ok(Box::new(RoundRobin::new(false, *shares)))
}

impl Arbitration for RoundRobin {
    fn add_queue(&mut self, priority: Priority) {
        self.queues.push(Queue {
            priority,
            waiting: 0,
        });
    }

    fn arrived(&mut self, queue: u32) {
        let class = self.class_of(queue);
        let arrived = &mut self.queues[queue as usize];
        arrived.waiting += 1;
        if arrived.waiting == 1 {
            self.classes[class].ready.push_back(queue);
        }
    }

    fn grant(&mut self) -> Option<u32> {
        let burst = self.shares.burst;
        let class = self.next_class()?;
        let class = &mut self.classes[class];
        let queue = *class.ready.front()?;
        if class.burst_left == 0 {
            class.burst_left = burst;
        }
        class.burst_left -= 1;
        let waiting = &mut self.queues[queue as usize].waiting;
        *waiting -= 1;
        if *waiting == 0 {
            class.ready.pop_front();
            class.burst_left = 0;
        } else if class.burst_left == 0 {
            class.ready.rotate_left(1);
        }
        Some(queue)
    }

    fn remembers(&self) -> bool {
        self.is_weighted
    }

    fn set_shares(&mut self, shares: Shares) {
        self.shares = shares;
        self.credit = self.credit.min(shares.weights[self.turn - 1]);
    }
}

impl RoundRobin {
    /// Weighted, with urgent priority class, or plain.
    pub(super) fn new(is_weighted: bool, shares: Shares) -> RoundRobin {
        RoundRobin {
            is_weighted,
            shares,
            queues: Vec::new(),
            classes: Default::default(),
            turn: Priority::High as usize,
            credit: shares.weights[0],
        }
    }

    fn class_of(&self, queue: u32) -> usize {
        match self.is_weighted {
            true => self.queues[queue as usize].priority as usize,
            false => Priority::Urgent as usize,
        }
    }

    /// The class to fetch from: urgent before all, then the others in turns as long as their
    /// weights. A class without commands gives its turn away.
    fn next_class(&mut self) -> Option<usize> {
        let urgent = Priority::Urgent as usize;
        if !self.classes[urgent].ready.is_empty() {
            return Some(urgent);
        }
        if !self.is_weighted {
            return None;
        }
        // At most one turn of each class, and the present one again.
        for _ in 0..CLASSES {
            if self.credit > 0 && !self.classes[self.turn].ready.is_empty() {
                self.credit -= 1;
                return Some(self.turn);
            }
            self.turn = match self.turn {
                turn if turn + 1 < CLASSES => turn + 1,
                _ => Priority::High as usize,
            };
            self.credit = self.shares.weights[self.turn - 1];
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Shares = Shares {
        burst: 1,
        weights: [4, 2, 1],
    };
    const RR: (bool, Shares) = (false, ONE);
    const WRR: (bool, Shares) = (true, ONE);

    /// The order in which `queues` with that many commands each are served.
    fn order((is_weighted, shares): (bool, Shares), queues: &[(Priority, u32)]) -> Vec<u32> {
        let mut arbiter = RoundRobin::new(is_weighted, shares);
        for &(priority, _) in queues {
            arbiter.add_queue(priority);
        }
        for (queue, &(_, commands)) in queues.iter().enumerate() {
            for _ in 0..commands {
                arbiter.arrived(queue as u32);
            }
        }
        std::iter::from_fn(|| arbiter.grant()).collect()
    }

    #[test]
    fn round_robin_takes_turns_whatever_the_priorities() {
        let queues = [
            (Priority::Low, 3),
            (Priority::Urgent, 1),
            (Priority::High, 2),
        ];
        assert_eq!(order(RR, &queues), [0, 1, 2, 0, 2, 0]);
    }

    #[test]
    fn a_burst_is_fetched_from_one_queue() {
        let queues = [(Priority::Medium, 5), (Priority::Medium, 3)];
        let two = (false, Shares { burst: 2, ..ONE });
        assert_eq!(order(two, &queues), [0, 0, 1, 1, 0, 0, 1, 0]);
        let unlimited = Shares {
            burst: Shares::NO_LIMIT,
            ..ONE
        };
        assert_eq!(order((false, unlimited), &queues), [0, 0, 0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn urgent_goes_first_and_the_others_by_weight() {
        let queues = [
            (Priority::Low, 2),
            (Priority::Medium, 3),
            (Priority::High, 6),
            (Priority::Urgent, 2),
        ];
        assert_eq!(order(WRR, &queues), [3, 3, 2, 2, 2, 2, 1, 1, 0, 2, 2, 1, 0]);
    }

    #[test]
    fn queues_of_one_class_share_its_weight() {
        let queues = [
            (Priority::High, 100),
            (Priority::High, 100),
            (Priority::Low, 100),
        ];
        let served = order(WRR, &queues);
        let of = |queue| served[..100].iter().filter(|&&q| q == queue).count();
        assert_eq!([of(0), of(1), of(2)], [40, 40, 20]);
    }

    #[test]
    fn weights_can_change_and_a_lone_class_gets_everything() {
        let mut arbiter = RoundRobin::new(true, ONE);
        arbiter.add_queue(Priority::High);
        arbiter.add_queue(Priority::Low);
        arbiter.set_shares(Shares::new(1, [1, 1, 3]));
        for _ in 0..8 {
            arbiter.arrived(0);
            arbiter.arrived(1);
        }
        let first: Vec<u32> = (0..8).filter_map(|_| arbiter.grant()).collect();
        assert_eq!(first, [0, 1, 1, 1, 0, 1, 1, 1]);
        let rest: Vec<u32> = std::iter::from_fn(|| arbiter.grant()).collect();
        assert_eq!(rest, [0, 1, 1, 0, 0, 0, 0, 0]);
        assert!(arbiter.queues.iter().all(|queue| queue.waiting == 0));
    }
}
