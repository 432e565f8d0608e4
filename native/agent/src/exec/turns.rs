//! Which of two interleaved streams each byte came from: the lengths of their turns, one after the other.

use std::collections::VecDeque;

/// Most turns known; of older output nobody knows the stream any more.
const MAX_TURNS: usize = 16_384;

#[derive(Default)]
pub struct Turns {
    /// The stream of the first turn, 0 or 1; those after it alternate.
    first: usize,
    lengths: VecDeque<u32>,
    /// Bytes before the first turn.
    before: u64,
}

impl Turns {
    pub fn push(&mut self, index: usize, bytes: usize) {
        let Ok(bytes) = u32::try_from(bytes) else {
            return;
        };
        if self.lengths.is_empty() {
            self.first = index;
        } else if self.last() != index {
            self.lengths.push_back(0);
        }
        match self.lengths.back_mut() {
            Some(length) if length.checked_add(bytes).is_some() => *length += bytes,
            // A turn of no bytes of the other stream lies between.
            Some(_) => self.lengths.extend([0, bytes]),
            None => self.lengths.push_back(bytes),
        }
        while self.lengths.len() > MAX_TURNS {
            self.forget_first();
        }
    }

    /// Bytes of memory.
    pub fn kept(&self) -> usize {
        self.lengths.len() * size_of::<u32>()
    }

    pub fn forget(&mut self) {
        while !self.lengths.is_empty() {
            self.forget_first();
        }
        self.lengths.shrink_to_fit();
    }

    /// The lengths of all turns after an offset, of stdout and stderr alternately. What is not known counts as stdout.
    pub fn since(&self, offset: u64) -> Vec<u64> {
        let mut turns = vec![self.before.saturating_sub(offset)];
        if self.first == 1 {
            turns.push(0);
        }
        let mut at = self.before;
        for (nth, length) in self.lengths.iter().enumerate() {
            let length = u64::from(*length);
            let new = (at + length).saturating_sub(offset.max(at));
            at += length;
            match turns.last_mut() {
                // The first turn goes on where stdout has begun.
                Some(last) if nth == 0 => *last += new,
                _ => turns.push(new),
            }
        }
        turns
    }

    fn last(&self) -> usize {
        (self.first + self.lengths.len() + 1) % 2
    }

    fn forget_first(&mut self) {
        if let Some(length) = self.lengths.pop_front() {
            self.before += u64::from(length);
            self.first = 1 - self.first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(pushed: &[(usize, usize)]) -> Turns {
        let mut turns = Turns::default();
        for (index, bytes) in pushed {
            turns.push(*index, *bytes);
        }
        turns
    }

    #[test]
    fn turns_alternate_and_begin_with_stdout() {
        let both = turns(&[(0, 3), (0, 2), (1, 4), (0, 1)]);
        assert_eq!(both.since(0), [5, 4, 1]);
        assert_eq!(both.since(4), [1, 4, 1]);
        assert_eq!(both.since(6), [0, 3, 1]);
        assert_eq!(both.since(10), [0, 0, 0]);
        let errors = turns(&[(1, 2), (0, 7)]);
        assert_eq!(errors.since(0), [0, 2, 7]);
        assert_eq!(errors.since(1), [0, 1, 7]);
        assert_eq!(turns(&[]).since(0), [0]);
    }

    #[test]
    fn a_turn_may_be_longer_than_its_number() {
        let long = turns(&[(1, u32::MAX as usize), (1, 5), (0, 1)]);
        assert_eq!(long.since(0), [0, u64::from(u32::MAX), 0, 5, 1]);
    }

    #[test]
    fn the_oldest_are_forgotten_and_count_as_stdout() {
        let mut many = Turns::default();
        for nth in 0..MAX_TURNS + 3 {
            many.push((nth + 1) % 2, 1);
        }
        let known = many.since(0);
        assert_eq!(known.iter().sum::<u64>(), MAX_TURNS as u64 + 3);
        assert_eq!(known[..3], [4, 1, 1]);
        assert_eq!(many.kept(), MAX_TURNS * 4);
        many.forget();
        assert_eq!(many.since(1), [MAX_TURNS as u64 + 2]);
    }
}
