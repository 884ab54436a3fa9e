//! A queue of dies of one channel.

/// Dies of a channel at most; sets of them are bits of a word.
pub(super) const MAX_DIES: usize = 64;

/// A FIFO in which each die of a channel is at most once, so that it needs no memory of its own and
/// its indices no check.
#[derive(Clone, Debug)]
pub(super) struct Ring<T> {
    items: [T; MAX_DIES],
    head: usize,
    len: usize,
}

impl<T: Copy + Default> Ring<T> {
    pub(super) fn new() -> Ring<T> {
        Ring {
            items: [T::default(); MAX_DIES],
            head: 0,
            len: 0,
        }
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<T> {
        (index < self.len).then(|| self.items[self.place(index)])
    }

    #[inline]
    pub(super) fn front(&self) -> Option<T> {
        self.get(0)
    }

    #[inline]
    pub(super) fn pop_front(&mut self) -> Option<T> {
        let front = self.front()?;
        self.head = self.place(1);
        self.len -= 1;
        Some(front)
    }

    #[inline]
    pub(super) fn push_back(&mut self, item: T) {
        self.insert_after(item, |_| false);
    }

    /// Inserts an item after those from the back that do not come after it.
    #[inline]
    pub(super) fn insert_after(&mut self, item: T, comes_after: impl Fn(T) -> bool) {
        debug_assert!(self.len < MAX_DIES, "a die is twice in a queue");
        let mut index = self.len;
        while index > 0 {
            let before = self.items[self.place(index - 1)];
            if !comes_after(before) {
                break;
            }
            self.items[self.place(index)] = before;
            index -= 1;
        }
        self.items[self.place(index)] = item;
        self.len += 1;
    }

    #[inline]
    fn place(&self, index: usize) -> usize {
        (self.head + index) % MAX_DIES
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn it_is_a_queue_however_often_it_goes_round() {
        let (mut ring, mut model) = (Ring::new(), VecDeque::new());
        for number in 0..1000u32 {
            if model.len() < MAX_DIES && number % 5 != 4 {
                ring.push_back(number);
                model.push_back(number);
            }
            if number % 3 == 0 || model.len() == MAX_DIES {
                assert_eq!(ring.pop_front(), model.pop_front());
            }
            assert_eq!(ring.front(), model.front().copied());
            let last = model.len().checked_sub(1);
            assert_eq!(last.and_then(|last| ring.get(last)), model.back().copied());
            assert_eq!(ring.get(model.len()), None);
        }
    }

    #[test]
    fn what_is_inserted_in_order_comes_in_order_and_ties_as_inserted() {
        let mut ring = Ring::new();
        for item in [(5, 'a'), (3, 'b'), (5, 'c'), (4, 'd'), (3, 'e')] {
            ring.insert_after(item, |other| other.0 > item.0);
        }
        let order: String = std::iter::from_fn(|| ring.pop_front().map(|item| item.1)).collect();
        assert_eq!(order, "bedac");
    }
}
