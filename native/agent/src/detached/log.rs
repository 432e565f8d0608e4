//! The last output of a process, with the stream of each byte. Viewers have no buffers of their own: each reads here from
//! its own position, and the process waits for the slowest.

use std::collections::VecDeque;

use crate::process::outputs::PIECE_BYTES;

/// What is kept without viewers, and how far a viewer may be behind.
pub const KEPT_BYTES: usize = 256 << 10;
/// With the piece that is read while a viewer is just not too far behind.
const HELD_BYTES: usize = KEPT_BYTES + PIECE_BYTES;
/// Most changes from one stream to the other: a process may print to both in turns, a byte at a time.
const MAX_RUNS: usize = 8 << 10;

#[derive(Default)]
pub struct Log {
    bytes: VecDeque<u8>,
    /// Position of the first kept byte, counted from the first of the process.
    start: u64,
    runs: VecDeque<Run>,
}

/// Bytes of one stream, from the end of the run before.
struct Run {
    stream: usize,
    end: u64,
}

impl Log {
    pub fn push(&mut self, stream: usize, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let end = self.end();
        match self.runs.back_mut() {
            Some(run) if run.stream == stream => run.end = end,
            _ => self.runs.push_back(Run { stream, end }),
        }
        self.forget_to(end.saturating_sub(HELD_BYTES as u64));
        if self.runs.len() > MAX_RUNS {
            self.forget_to(self.runs[0].end);
        }
    }

    /// The oldest position at which a reader has room.
    pub fn oldest(&self) -> u64 {
        let by_bytes = self.end().saturating_sub(KEPT_BYTES as u64);
        let over = self.runs.len().checked_sub(MAX_RUNS);
        let by_runs = over.map_or(0, |last| self.runs[last].end);
        self.start.max(by_bytes).max(by_runs)
    }

    /// Number of bytes that are held.
    pub fn kept(&self) -> usize {
        self.bytes.len()
    }

    /// The position after the newest byte.
    pub fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// False while a reader at this position would lose bytes to the next piece.
    pub fn has_room(&self, position: u64) -> bool {
        let runs = self.runs.len() - self.run_at(position);
        self.end() - position <= KEPT_BYTES as u64 && runs < MAX_RUNS
    }

    /// Appends bytes of one stream from a position on, one piece at most, and returns the stream; None at the end.
    pub fn read(&self, position: u64, out: &mut Vec<u8>) -> Option<usize> {
        let run = self.runs.get(self.run_at(position))?;
        let skip = (position - self.start) as usize;
        let length = ((run.end - position) as usize).min(PIECE_BYTES);
        let (first, second) = self.bytes.as_slices();
        let split = first.len().saturating_sub(skip).min(length);
        if split > 0 {
            out.extend_from_slice(&first[skip..skip + split]);
        }
        let skip = skip.saturating_sub(first.len());
        out.extend_from_slice(&second[skip..skip + length - split]);
        Some(run.stream)
    }

    /// Index of the run with the byte at the position.
    fn run_at(&self, position: u64) -> usize {
        self.runs.partition_point(|run| run.end <= position)
    }

    fn forget_to(&mut self, position: u64) {
        if position <= self.start {
            return;
        }
        self.bytes.drain(..(position - self.start) as usize);
        self.start = position;
        let over = self.run_at(position);
        self.runs.drain(..over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(log: &Log, mut position: u64) -> Vec<(usize, Vec<u8>)> {
        let mut pieces = Vec::new();
        loop {
            let mut bytes = Vec::new();
            let Some(stream) = log.read(position, &mut bytes) else {
                return pieces;
            };
            position += bytes.len() as u64;
            pieces.push((stream, bytes));
        }
    }

    #[test]
    fn each_byte_has_its_stream() {
        let mut log = Log::default();
        for (stream, text) in [(0, "one "), (0, "two "), (1, "wrong"), (0, "three")] {
            log.push(stream, text.as_bytes());
        }
        let text = |stream, text: &str| (stream, text.as_bytes().to_vec());
        assert_eq!(
            all(&log, 0),
            [text(0, "one two "), text(1, "wrong"), text(0, "three")]
        );
        assert_eq!(all(&log, 10), [text(1, "ong"), text(0, "three")]);
        assert_eq!(all(&log, 18), []);
    }

    #[test]
    fn memory_is_bounded_whatever_is_printed() {
        let mut log = Log::default();
        for _ in 0..1_000 {
            log.push(0, &[b'x'; 4_096]);
        }
        assert_eq!((log.start, log.end()), (4_096_000 - 393_216, 4_096_000));
        assert!(log.bytes.capacity() <= 786_432);
        let mut alternating = Log::default();
        for index in 0..100_000 {
            alternating.push(index % 2, b"x");
        }
        assert_eq!(alternating.runs.len(), 8_192);
        assert_eq!(alternating.start, 100_000 - 8_192);
    }

    #[test]
    fn a_reader_begins_where_it_has_room() {
        let mut log = Log::default();
        assert_eq!(log.oldest(), 0);
        for _ in 0..100 {
            log.push(0, &[b'x'; 4_096]);
        }
        assert_eq!(log.oldest(), 409_600 - 262_144);
        assert!(log.has_room(log.oldest()) && !log.has_room(log.oldest() - 1));
        let mut alternating = Log::default();
        for index in 0..100_000 {
            alternating.push(index % 2, b"x");
        }
        assert_eq!(alternating.oldest(), 100_000 - 8_191);
        assert!(alternating.has_room(alternating.oldest()));
        assert!(!alternating.has_room(alternating.oldest() - 1));
    }

    #[test]
    fn a_reader_who_has_room_loses_nothing_to_the_next_piece() {
        let mut log = Log::default();
        log.push(0, &[b'x'; 262_144]);
        assert!(log.has_room(0));
        log.push(1, &[b'y'; 131_072]);
        assert_eq!(log.start, 0);
        assert!(!log.has_room(0) && log.has_room(131_072));
        let mut alternating = Log::default();
        for index in 0..8_191 {
            assert!(alternating.has_room(0));
            alternating.push(index % 2, b"x");
        }
        assert!(alternating.has_room(0));
        alternating.push(1, b"x");
        assert!(!alternating.has_room(0) && alternating.has_room(1));
        assert_eq!(alternating.start, 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]

        #[test]
        fn a_reader_gets_what_was_pushed_from_its_position_on(
            pieces in prop::collection::vec((0usize..2, 1usize..6_000), 0..200),
            from in 0u64..1_000_000,
        ) {
            let mut log = Log::default();
            let mut whole: Vec<(usize, u8)> = Vec::new();
            for (stream, length) in pieces {
                let bytes: Vec<u8> = (0..length).map(|index| (whole.len() + index) as u8).collect();
                log.push(stream, &bytes);
                whole.extend(bytes.into_iter().map(|byte| (stream, byte)));
            }
            let from = from.clamp(log.start, log.end());
            let read: Vec<_> = all(&log, from)
                .into_iter()
                .flat_map(|(stream, bytes)| bytes.into_iter().map(move |byte| (stream, byte)))
                .collect();
            prop_assert_eq!(log.end(), whole.len() as u64);
            prop_assert!(read[..] == whole[from as usize..]);
        }
    }
}
