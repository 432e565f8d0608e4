//! Keeps the beginning and the end of a stream of any length.

use std::collections::VecDeque;

pub struct Capture {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

/// The kept halves of a stream, and the number of bytes left out between them.
pub struct Parts {
    pub head: Vec<u8>,
    pub left_out: u64,
    pub tail: Vec<u8>,
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

    /// Counts the bytes that are held.
    pub fn kept(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// Lowers the limit to `limit` bytes, also for what is kept already.
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

    /// Counts all bytes of the stream, kept or not.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns both halves, cut between characters, with a marker where bytes are left out.
    pub fn snapshot(&self) -> Captured {
        self.since(0)
    }

    /// Returns the bytes after the first `offset`, unchanged.
    pub fn parts_since(&self, offset: u64) -> Parts {
        let tail_start = self.total - self.tail.len() as u64;
        let head_start = offset.min(self.head.len() as u64) as usize;
        let seen = offset
            .saturating_sub(tail_start)
            .min(self.tail.len() as u64);
        Parts {
            head: self.head[head_start..].to_vec(),
            left_out: tail_start - offset.max(self.head.len() as u64).min(tail_start),
            tail: self.tail.iter().skip(seen as usize).copied().collect(),
        }
    }

    /// As `snapshot`, for the bytes after the first `offset`.
    pub fn since(&self, offset: u64) -> Captured {
        let Parts {
            head: mut bytes,
            left_out,
            tail,
        } = self.parts_since(offset);
        if left_out == 0 {
            bytes.extend(tail);
            return Captured {
                bytes,
                truncated: false,
            };
        }
        let cut = incomplete_suffix(&bytes);
        bytes.truncate(bytes.len() - cut);
        let skipped = tail
            .iter()
            .take(3)
            .take_while(|byte| is_continuation(**byte))
            .count();
        let left_out = left_out + (cut + skipped) as u64;
        bytes.extend_from_slice(format!("\n[… {left_out} bytes left out …]\n").as_bytes());
        bytes.extend(&tail[skipped..]);
        Captured {
            bytes,
            truncated: true,
        }
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Counts the bytes at the end that begin a character and do not complete it.
pub fn incomplete_suffix(bytes: &[u8]) -> usize {
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
    fn what_came_after_an_offset_is_given_alone() {
        let mut capture = Capture::new(10);
        capture.push(b"abcdefgh");
        let text = |capture: &Capture, offset| {
            let captured = capture.since(offset);
            (
                String::from_utf8(captured.bytes).unwrap(),
                captured.truncated,
            )
        };
        assert_eq!(text(&capture, 3), ("defgh".into(), false));
        assert_eq!(text(&capture, 6), ("gh".into(), false));
        assert_eq!(text(&capture, 9), (String::new(), false));
        capture.push(b"ijklmnopqrst");
        let gap = "e\n[… 10 bytes left out …]\npqrst";
        assert_eq!(text(&capture, 4), (gap.into(), true));
        assert_eq!(
            text(&capture, 12),
            ("\n[… 3 bytes left out …]\npqrst".into(), true)
        );
        let parts = capture.parts_since(4);
        assert_eq!(
            (&parts.head[..], parts.left_out, &parts.tail[..]),
            (&b"e"[..], 10, &b"pqrst"[..])
        );
        assert_eq!(text(&capture, 15), ("pqrst".into(), false));
        assert_eq!(text(&capture, 20), (String::new(), false));
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
