//! The last bytes that a terminal has printed. Viewers have no buffers of their own: each reads here at its
//! own place. One that is too slow loses bytes, and slows neither the program nor other viewers.

use std::collections::VecDeque;

use super::escapes::Escapes;

/// Bytes kept of one terminal's output.
pub const KEPT_BYTES: usize = 256 << 10;
/// Bytes that a slow viewer gets when it skips to the newest: fewer than all, or it would fall behind again at once.
const CAUGHT_UP_BYTES: u64 = 64 << 10;
/// A sequence that is longer than this, such as a picture, is cut.
const SEQUENCE_BYTES: u64 = 8 << 10;

#[derive(Default)]
pub struct Ring {
    kept: VecDeque<u8>,
    /// Position of the first kept byte, counted from the terminal's first.
    start: u64,
    /// State at the first kept byte.
    escapes: Escapes,
}

/// A place to read from.
pub struct Place {
    pub position: u64,
    /// Brings a terminal into the modes of that place; empty at the very beginning.
    pub modes: Vec<u8>,
}

impl Ring {
    pub fn push(&mut self, bytes: &[u8]) {
        let over = (self.kept.len() + bytes.len()).saturating_sub(KEPT_BYTES);
        let over = over.min(self.kept.len());
        let (first, second) = self.kept.as_slices();
        let cut = over.min(first.len());
        self.escapes.feed_all(&first[..cut]);
        self.escapes.feed_all(&second[..over - cut]);
        self.kept.drain(..over);
        self.start += over as u64;
        self.kept.extend(bytes);
    }

    /// The position after the newest byte, counted from the terminal's first.
    pub fn end(&self) -> u64 {
        self.start + self.kept.len() as u64
    }

    /// The place for a new viewer: all that is kept.
    pub fn oldest(&self) -> Place {
        self.safe(self.start)
    }

    /// The place for a viewer that was too slow.
    pub fn newest(&self) -> Place {
        self.safe(self.end().saturating_sub(CAUGHT_UP_BYTES))
    }

    /// Appends at most `most` bytes from a position on; None where they are no longer kept.
    pub fn read(&self, position: u64, most: usize, out: &mut Vec<u8>) -> Option<usize> {
        let skip = usize::try_from(position.checked_sub(self.start)?).ok()?;
        let length = self.kept.len().checked_sub(skip)?.min(most);
        let (first, second) = self.kept.as_slices();
        let from_first = first.len().saturating_sub(skip).min(length);
        if from_first > 0 {
            out.extend_from_slice(&first[skip..skip + from_first]);
        }
        let skip = skip.saturating_sub(first.len());
        out.extend_from_slice(&second[skip..skip + length - from_first]);
        Some(length)
    }

    /// True while a full-screen program runs and the beginning of its picture is no longer kept.
    pub fn has_lost_a_picture(&self) -> bool {
        let mut escapes = self.escapes.clone();
        for part in [self.kept.as_slices().0, self.kept.as_slices().1] {
            escapes.feed_all(part);
        }
        self.start > 0 && escapes.on_alternate_screen()
    }

    /// Returns the first place at or after `wanted` that is between characters and sequences.
    fn safe(&self, wanted: u64) -> Place {
        let mut escapes = self.escapes.clone();
        let mut position = self.start;
        for byte in &self.kept {
            let is_far = position >= wanted + SEQUENCE_BYTES;
            if position >= wanted && (escapes.at_rest() || is_far) {
                break;
            }
            escapes.feed(*byte);
            position += 1;
        }
        let modes = match position {
            0 => Vec::new(),
            _ => escapes.restore(),
        };
        Place { position, modes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(ring: &Ring, position: u64) -> String {
        let mut out = Vec::new();
        ring.read(position, KEPT_BYTES, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn all_is_kept_up_to_the_bound_and_begins_without_modes() {
        let mut ring = Ring::default();
        ring.push(b"\x1b[1mfirst\r\n");
        ring.push(b"second");
        let place = ring.oldest();
        assert_eq!((place.position, place.modes.len()), (0, 0));
        assert_eq!(content(&ring, 0), "\x1b[1mfirst\r\nsecond");
        assert_eq!(content(&ring, 11), "second");
        assert_eq!(ring.end(), 17);
    }

    #[test]
    fn memory_is_bounded_whatever_is_printed() {
        let mut ring = Ring::default();
        for _ in 0..1_000 {
            ring.push(&[b'x'; 4_096]);
        }
        assert_eq!(ring.kept.len(), 262_144);
        assert!(ring.kept.capacity() <= 524_288);
        assert_eq!(ring.end(), 4_096_000);
        assert_eq!(ring.oldest().position, 4_096_000 - 262_144);
        assert_eq!(ring.read(0, 10, &mut Vec::new()), None);
    }

    #[test]
    fn it_begins_after_a_sequence_that_was_cut_and_with_the_modes_of_that_place() {
        let mut ring = Ring::default();
        ring.push(b"\x1b[?2004h\x1b[31;1mred");
        ring.push(&vec![b'y'; KEPT_BYTES - 8]);
        // Eight bytes are left of the first 18: they begin inside the second sequence.
        let place = ring.oldest();
        assert_eq!(place.position, 15);
        let modes = String::from_utf8(place.modes).unwrap();
        assert!(
            modes.contains("\x1b[?2004h") && modes.starts_with('\x18'),
            "{modes:?}"
        );
        assert!(content(&ring, 15).starts_with("redyyy"));
    }

    #[test]
    fn it_begins_after_a_character_that_was_cut() {
        let mut ring = Ring::default();
        ring.push("ä€".as_bytes());
        ring.push(&vec![b'y'; KEPT_BYTES - 2]);
        assert_eq!(ring.oldest().position, 5);
    }

    #[test]
    fn a_sequence_without_end_hides_no_more_than_a_bound() {
        let mut ring = Ring::default();
        ring.push(b"\x1b]0;");
        ring.push(&vec![b'y'; KEPT_BYTES]);
        assert_eq!(ring.oldest().position, 4 + 8_192);
    }

    #[test]
    fn who_was_too_slow_goes_on_near_the_end() {
        let mut ring = Ring::default();
        for _ in 0..100 {
            ring.push(&[b'x'; 4_096]);
        }
        assert_eq!(ring.newest().position, 409_600 - 65_536);
        let mut short = Ring::default();
        short.push(b"short");
        assert_eq!(short.newest().position, 0);
    }

    #[test]
    fn a_picture_is_lost_with_its_beginning_and_while_it_is_shown() {
        let mut ring = Ring::default();
        ring.push(b"\x1b[?1049h");
        assert!(!ring.has_lost_a_picture());
        ring.push(&vec![b'y'; KEPT_BYTES]);
        assert!(ring.has_lost_a_picture());
        ring.push(b"\x1b[?1049l");
        assert!(!ring.has_lost_a_picture());
    }
}
