//! Keeps the first and the last half of a stream that may be any length.

use std::collections::VecDeque;

pub struct Capture {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

pub struct Captured {
    pub bytes: Vec<u8>,
    pub truncated: bool,
}

impl Capture {
    /// Keeps a stream of up to `limit` bytes whole.
    pub fn new(limit: usize) -> Self {
        Self {
            half: limit / 2,
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
        }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let to_head = bytes.len().min(self.half - self.head.len());
        self.head.extend_from_slice(&bytes[..to_head]);
        let rest = &bytes[to_head..];
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// How many bytes are held.
    pub fn kept(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// From now on at most `limit` bytes are kept, of what has come already too.
    pub fn shrink(&mut self, limit: usize) {
        self.half = self.half.min(limit / 2);
        let mut rest = self.head.split_off(self.half.min(self.head.len()));
        let excess = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..excess);
        let room = self.half - self.tail.len();
        rest.drain(..rest.len().saturating_sub(room));
        for byte in rest.into_iter().rev() {
            self.tail.push_front(byte);
        }
        self.head.shrink_to_fit();
        self.tail.shrink_to_fit();
    }

    /// Both halves, cut between characters, with a marker where something is left out.
    pub fn snapshot(&self) -> Captured {
        let mut bytes = self.head.clone();
        let (front, back) = self.tail.as_slices();
        if self.total == self.kept() as u64 {
            bytes.extend_from_slice(front);
            bytes.extend_from_slice(back);
            return Captured {
                bytes,
                truncated: false,
            };
        }
        bytes.truncate(bytes.len() - incomplete_suffix(&bytes));
        let skipped = self
            .tail
            .iter()
            .take(3)
            .take_while(|byte| is_continuation(**byte))
            .count();
        let left_out = self.total - bytes.len() as u64 - (self.tail.len() - skipped) as u64;
        bytes.extend_from_slice(format!("\n[… {left_out} bytes left out …]\n").as_bytes());
        bytes.extend(self.tail.iter().skip(skipped));
        Captured {
            bytes,
            truncated: true,
        }
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// How many bytes at the end begin a character that is not complete.
fn incomplete_suffix(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        if is_continuation(byte) {
            continue;
        }
        let length = match byte {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => 1,
        };
        return if length > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn capture(limit: usize, pieces: &[Vec<u8>]) -> Captured {
        let mut capture = Capture::new(limit);
        for piece in pieces {
            capture.push(piece);
        }
        capture.snapshot()
    }

    #[test]
    fn a_long_stream_keeps_both_ends() {
        let captured = capture(10, &[b"abcdefgh".to_vec(), b"ijklmnopqrst".to_vec()]);
        assert!(captured.truncated);
        assert_eq!(
            String::from_utf8(captured.bytes).unwrap(),
            "abcde\n[… 10 bytes left out …]\npqrst"
        );
    }

    #[test]
    fn no_character_is_cut() {
        let captured = capture(10, &["€".repeat(20).into_bytes()]);
        assert_eq!(
            String::from_utf8(captured.bytes).unwrap(),
            "€\n[… 54 bytes left out …]\n€"
        );
    }

    #[test]
    fn what_is_shrunk_keeps_both_ends_whether_or_not_it_was_whole() {
        for (before, expected) in [
            (100, "ab\n[… 6 bytes left out …]\nij"),
            (6, "ab\n[… 6 bytes left out …]\nij"),
        ] {
            let mut capture = Capture::new(before);
            capture.push(b"abcdefghij");
            capture.shrink(4);
            assert_eq!(capture.kept(), 4);
            assert_eq!(
                String::from_utf8(capture.snapshot().bytes).unwrap(),
                expected
            );
            capture.push(b"k");
            assert!(capture.snapshot().bytes.ends_with(b"\njk"));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn what_fits_is_kept_whole_and_what_does_not_is_bounded(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12),
            half in 1usize..64,
        ) {
            let limit = half * 2;
            let whole: Vec<u8> = pieces.concat();
            let captured = capture(limit, &pieces);
            if whole.len() <= limit {
                prop_assert_eq!(captured.bytes, whole);
                prop_assert!(!captured.truncated);
            } else {
                prop_assert!(captured.truncated);
                prop_assert!(captured.bytes.len() <= limit + 64);
                prop_assert!(captured.bytes.starts_with(&whole[..half.saturating_sub(3)]));
                let last = half.saturating_sub(3);
                prop_assert!(captured.bytes.ends_with(&whole[whole.len() - last..]));
            }
        }
    }
}
