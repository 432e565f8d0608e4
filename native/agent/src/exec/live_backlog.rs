//! Output of a running program that is not sent yet: pieces of both streams in the order of the writes,
//! within bounds. Bytes without room are left out and counted. Output that the host wants whole always has
//! room, and its reader waits while much is held.

use serde::Serialize;
use std::collections::VecDeque;

use crate::wire::frame::{self, Kind};

/// The largest piece.
pub const PIECE_BYTES: usize = 16 << 10;
/// Bytes held for a host that does not read: as many as a result keeps of a stream.
const HELD_BYTES: usize = 1 << 20;
/// Bytes held of output that the host wants whole, before its reader waits.
const WHOLE_BYTES: usize = 256 << 10;
/// Part of the protocol: the bound of a call, and the cost of a piece beside its bytes.
const CALL_BYTES: usize = 16 << 20;
const PIECE_COST: usize = 64;
/// Pieces in one write: there is room again before all of them are sent.
const PIECES_A_WRITE: usize = 16;

const STREAMS: [&str; 2] = ["stdout", "stderr"];
/// In place of a stream: a part of the result.
const ITEM: usize = STREAMS.len();

#[derive(Default)]
pub struct Backlog {
    /// True where no output may be left out.
    whole: bool,
    pieces: VecDeque<Piece>,
    /// Cost of `pieces`, and of all pieces so far.
    held: usize,
    spent: usize,
    /// Bytes left out of each stream since its last piece.
    left_out: [u64; 2],
}

struct Piece {
    stream: usize,
    /// Bytes of the stream that are missing before it.
    left_out: u64,
    bytes: Vec<u8>,
}

#[derive(Serialize)]
struct Head {
    live: &'static str,
    left_out: u64,
}

impl Backlog {
    /// A backlog for output that the host wants whole.
    pub fn whole() -> Self {
        Self {
            whole: true,
            ..Self::default()
        }
    }

    /// Takes output, or counts it as left out. `stream` is 0 for stdout and 1 for stderr.
    pub fn push(&mut self, stream: usize, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let taken = match self.left_out[stream] {
                0 => self.append(stream, bytes),
                // After a gap only a whole piece is taken: many small ones with gaps between are of no use.
                _ if self.room() < PIECE_COST + PIECE_BYTES => 0,
                _ => self.begin(stream, bytes),
            };
            if taken == 0 {
                self.left_out[stream] += bytes.len() as u64;
                return;
            }
            bytes = &bytes[taken..];
        }
    }

    /// Takes a part of the result, which has its place between the pieces.
    pub fn push_item(&mut self, json: Vec<u8>) {
        self.pieces.push_back(Piece {
            stream: ITEM,
            left_out: 0,
            bytes: json,
        });
    }

    /// Cost of the held pieces, and the bytes of stdout that are left out after them.
    #[cfg(test)]
    pub fn extent(&self) -> (usize, u64) {
        (self.held, self.left_out[0])
    }

    #[cfg(test)]
    pub fn shown(&self) -> Vec<(usize, String)> {
        let text = |piece: &Piece| String::from_utf8(piece.bytes.clone()).unwrap();
        let pieces = self.pieces.iter();
        pieces.map(|piece| (piece.stream, text(piece))).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// True while the reader of the program's output must wait.
    pub fn is_full(&self) -> bool {
        self.whole && self.held >= WHOLE_BYTES
    }

    /// True when a whole piece is there.
    pub fn is_due(&self) -> bool {
        self.held >= PIECE_BYTES
    }

    /// Lengthens the last piece, or begins another.
    fn append(&mut self, stream: usize, bytes: &[u8]) -> usize {
        let room = self.room();
        match self.pieces.back_mut() {
            Some(last) if last.stream == stream && last.bytes.len() < PIECE_BYTES => {
                let taken = bytes.len().min(PIECE_BYTES - last.bytes.len()).min(room);
                last.bytes.extend_from_slice(&bytes[..taken]);
                self.held += taken;
                self.spent += taken;
                taken
            }
            _ => self.begin(stream, bytes),
        }
    }

    fn begin(&mut self, stream: usize, bytes: &[u8]) -> usize {
        let taken = bytes
            .len()
            .min(PIECE_BYTES)
            .min(self.room().saturating_sub(PIECE_COST));
        if taken > 0 {
            self.add(stream, &bytes[..taken]);
        }
        taken
    }

    fn add(&mut self, stream: usize, bytes: &[u8]) {
        self.pieces.push_back(Piece {
            stream,
            left_out: std::mem::take(&mut self.left_out[stream]),
            bytes: bytes.to_vec(),
        });
        self.held += PIECE_COST + bytes.len();
        self.spent += PIECE_COST + bytes.len();
    }

    /// The cost that may still be taken. The call's bound keeps room for the last piece of each stream.
    fn room(&self) -> usize {
        if self.whole {
            return usize::MAX;
        }
        let reserved = STREAMS.len() * PIECE_COST;
        (HELD_BYTES.saturating_sub(self.held)).min(CALL_BYTES.saturating_sub(self.spent + reserved))
    }

    /// Names the bytes that were left out after the last piece.
    pub fn account_for_rest(&mut self) {
        for stream in 0..STREAMS.len() {
            if self.left_out[stream] > 0 {
                self.add(stream, &[]);
            }
        }
    }

    /// Moves the next pieces into `frames`; false when there are none.
    pub fn take(&mut self, frames: &mut Vec<u8>) -> bool {
        let count = self.pieces.len().min(PIECES_A_WRITE);
        for piece in self.pieces.drain(..count) {
            if piece.stream == ITEM {
                frame::encode(frames, Kind::Item, &piece.bytes);
                continue;
            }
            let head = Head {
                live: STREAMS[piece.stream],
                left_out: piece.left_out,
            };
            let json = serde_json::to_vec(&head).unwrap_or_default();
            frame::encode(frames, Kind::Item, &json);
            if !piece.bytes.is_empty() {
                frame::encode(frames, Kind::Data, &piece.bytes);
            }
            self.held -= PIECE_COST + piece.bytes.len();
        }
        count > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that is sent, the payload of each frame.
    fn sent(backlog: &mut Backlog) -> Vec<String> {
        backlog.account_for_rest();
        let mut frames = Vec::new();
        while backlog.take(&mut frames) {}
        let mut rest = &frames[..];
        let mut payloads = Vec::new();
        while let Some((header, after)) = rest.split_first_chunk() {
            let (_, length) = frame::parse_header(*header).unwrap();
            payloads.push(String::from_utf8(after[..length].to_vec()).unwrap());
            rest = &after[length..];
        }
        payloads
    }
    #[test]
    fn what_is_printed_in_a_row_on_one_stream_is_one_piece() {
        let mut backlog = Backlog::default();
        for (stream, text) in [(0, "a"), (0, "b\n"), (1, "c\n"), (0, "d\n")] {
            backlog.push(stream, text.as_bytes());
        }
        assert_eq!(
            sent(&mut backlog),
            [
                r#"{"live":"stdout","left_out":0}"#,
                "ab\n",
                r#"{"live":"stderr","left_out":0}"#,
                "c\n",
                r#"{"live":"stdout","left_out":0}"#,
                "d\n",
            ]
        );
    }

    #[test]
    fn a_piece_has_at_most_16_kib() {
        let mut backlog = Backlog::default();
        backlog.push(0, &[b'x'; 40_000]);
        let lengths: Vec<_> = sent(&mut backlog).iter().map(String::len).collect();
        assert_eq!(lengths, [30, 16_384, 30, 16_384, 30, 7_232]);
    }

    #[test]
    fn what_finds_no_room_is_counted_where_it_is_missing() {
        let mut backlog = Backlog::default();
        backlog.push(0, &vec![b'x'; 2 << 20]);
        assert!(backlog.held <= 1 << 20);
        backlog.take(&mut Vec::new());
        backlog.push(0, b"after");
        let frames = sent(&mut backlog);
        assert_eq!(
            frames[frames.len() - 2..],
            [r#"{"live":"stdout","left_out":1052672}"#, "after"]
        );
    }

    #[test]
    fn the_end_names_what_was_left_out_last() {
        let mut backlog = Backlog::default();
        backlog.push(1, &vec![b'x'; 2 << 20]);
        assert!(
            sent(&mut backlog)
                .last()
                .unwrap()
                .starts_with(r#"{"live":"stderr","left_out":"#)
        );
    }

    #[test]
    fn a_call_sends_no_more_than_16_mib_with_64_bytes_for_each_piece() {
        let mut backlog = Backlog::default();
        let mut counted = 0;
        let mut frames = Vec::new();
        for _ in 0..400_000 {
            backlog.push(0, b"out");
            backlog.push(1, b"err");
            while backlog.take(&mut frames) {
                frames.clear();
                counted += 1;
            }
        }
        assert!(counted > 0);
        let last = sent(&mut backlog);
        assert_eq!(last.len(), 2);
        assert!(backlog.spent <= 16 << 20, "{}", backlog.spent);
        assert!(backlog.spent > (16 << 20) - 256, "{}", backlog.spent);
    }
}
