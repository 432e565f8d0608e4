//! The position of one viewer in the output, and its next frames.

use serde::Serialize;
use std::rc::Rc;

use super::registry::Seat;
use super::ring::Place;
use super::state::Terminal;
use crate::exec::terminal::Size;
use crate::process::signals::End;
use crate::wire::frame::{self, Kind};

/// Most bytes of one data frame.
const PIECE_BYTES: usize = 64 << 10;

pub struct Position<'a> {
    seat: &'a Seat,
    position: u64,
    /// The size that the viewer got last.
    size: Size,
    /// Sent before the bytes at the position.
    modes: Vec<u8>,
    frames: Vec<u8>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Note {
    Skipped(u64),
    Size(Size),
}

pub enum Next<'a> {
    Frames(&'a [u8]),
    /// Nothing follows these.
    Last(&'a [u8]),
}

impl<'a> Position<'a> {
    /// The first position of a new viewer.
    pub fn new(seat: &'a Seat) -> Self {
        let Place { position, modes } = seat.terminal.ring().oldest();
        Self {
            seat,
            position,
            size: seat.terminal.size(),
            modes,
            frames: Vec::new(),
        }
    }

    /// Bytes of earlier output that the viewer gets.
    pub fn scrollback_bytes(&self) -> u64 {
        self.modes.len() as u64 + self.terminal().ring().end() - self.position
    }

    /// Resolves with the next frames. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Next<'_> {
        let seat = self.seat;
        while !self.fill() {
            if let Some(status) = self.terminal().end() {
                self.finish(status);
                return Next::Last(&self.frames);
            }
            seat.viewer.news.notified().await;
        }
        Next::Frames(&self.frames)
    }

    fn terminal(&self) -> &Rc<Terminal> {
        &self.seat.terminal
    }

    /// False where there is nothing new.
    fn fill(&mut self) -> bool {
        self.frames.clear();
        let size = self.terminal().size();
        if size != self.size {
            self.size = size;
            self.note(&Note::Size(size));
        }
        let seat = self.seat;
        let ring = seat.terminal.ring();
        let mut piece = std::mem::take(&mut self.modes);
        let read = match ring.read(self.position, PIECE_BYTES, &mut piece) {
            Some(length) => length,
            None => {
                let Place { position, modes } = ring.newest();
                self.note(&Note::Skipped(position - self.position));
                self.position = position;
                piece = modes;
                ring.read(position, PIECE_BYTES, &mut piece).unwrap_or(0)
            }
        };
        self.position += read as u64;
        if !piece.is_empty() {
            frame::encode(&mut self.frames, Kind::Data, &piece);
        }
        !self.frames.is_empty()
    }

    fn finish(&mut self, status: i32) {
        self.note(&End::of(status));
        frame::encode(&mut self.frames, Kind::End, &[]);
    }

    fn note(&mut self, note: &impl Serialize) {
        if let Ok(json) = serde_json::to_vec(note) {
            frame::encode(&mut self.frames, Kind::Item, &json);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::registry::Registry;
    use crate::terminal::ring::KEPT_BYTES;
    use crate::wire::frame::{HEADER_BYTES, parse_header};
    use serde_json::{Value, json};

    const SIZE: Size = Size {
        columns: 80,
        rows: 24,
    };

    fn terminal() -> Rc<Terminal> {
        let opened = crate::exec::terminal::open(SIZE).unwrap();
        Rc::new(Terminal::new("main", 1, opened.master, SIZE))
    }

    fn seat(terminal: &Rc<Terminal>) -> Seat {
        let entered = Registry::default().enter(Rc::clone(terminal), None);
        entered.unwrap_or_else(|fault| panic!("{fault:?}"))
    }

    /// Returns the notes and the bytes of all current frames.
    fn seen(position: &mut Position) -> (Vec<Value>, Vec<u8>) {
        let (mut notes, mut bytes) = (Vec::new(), Vec::new());
        while position.fill() {
            take_apart(&position.frames, &mut notes, &mut bytes);
        }
        if let Some(status) = position.terminal().end() {
            position.finish(status);
            take_apart(&position.frames, &mut notes, &mut bytes);
        }
        (notes, bytes)
    }

    fn take_apart(mut frames: &[u8], notes: &mut Vec<Value>, bytes: &mut Vec<u8>) {
        while let Some((header, rest)) = frames.split_first_chunk::<HEADER_BYTES>() {
            let (kind, length) = parse_header(*header).unwrap();
            let (payload, rest) = rest.split_at(length);
            match kind {
                Kind::Data => bytes.extend_from_slice(payload),
                Kind::Item => notes.push(serde_json::from_slice(payload).unwrap()),
                other => assert_eq!(other, Kind::End),
            }
            frames = rest;
        }
    }

    #[test]
    fn a_viewer_sees_what_was_printed_before_and_then_what_is() {
        let terminal = terminal();
        terminal.print(b"before ");
        let seat = seat(&terminal);
        let mut position = Position::new(&seat);
        assert_eq!(position.scrollback_bytes(), 7);
        terminal.print(b"after");
        assert_eq!(seen(&mut position), (vec![], b"before after".to_vec()));
        assert_eq!(seen(&mut position), (vec![], vec![]));
    }

    #[test]
    fn a_slow_viewer_loses_bytes_and_the_others_do_not() {
        let terminal = terminal();
        let (quick, slow) = (seat(&terminal), seat(&terminal));
        let (mut quick, mut slow) = (Position::new(&quick), Position::new(&slow));
        let mut all = Vec::new();
        for _ in 0..200 {
            terminal.print(&[b'x'; 4_096]);
            let (notes, bytes) = seen(&mut quick);
            assert_eq!(notes, Vec::<Value>::new());
            all.extend(bytes);
        }
        assert_eq!(all.len(), 819_200);
        let (notes, bytes) = seen(&mut slow);
        assert_eq!(notes, [json!({ "skipped": 819_200 - 65_536 })]);
        assert!(bytes.starts_with(b"\x18"), "modes come first");
        assert!(bytes.ends_with(&[b'x'; 65_536]));
        assert!(bytes.len() < 65_536 + 200);
        terminal.print(b"on");
        assert_eq!(seen(&mut slow), (vec![], b"on".to_vec()));
    }

    #[test]
    fn the_end_comes_behind_all_that_was_printed() {
        let terminal = terminal();
        let seat = seat(&terminal);
        let mut position = Position::new(&seat);
        terminal.print(&[b'x'; 100_000]);
        terminal.finish(libc::SIGKILL);
        let (notes, bytes) = seen(&mut position);
        assert_eq!(bytes.len(), 100_000);
        assert_eq!(notes, [json!({ "exit_code": 137, "signal": "SIGKILL" })]);
    }

    #[test]
    fn a_size_that_another_viewer_brought_is_said() {
        let terminal = terminal();
        let first = seat(&terminal);
        let mut position = Position::new(&first);
        let wide = Size {
            columns: 132,
            rows: 43,
        };
        let second = seat(&terminal);
        terminal.resized(&second.viewer, wide);
        let expected = json!({ "size": { "columns": 132, "rows": 43 } });
        assert_eq!(seen(&mut position), (vec![expected], vec![]));
    }

    #[test]
    fn memory_is_that_of_the_ring_and_one_piece() {
        let terminal = terminal();
        let seat = seat(&terminal);
        let mut position = Position::new(&seat);
        terminal.print(&[b'x'; KEPT_BYTES / 2]);
        seen(&mut position);
        assert!(position.frames.capacity() <= 2 * PIECE_BYTES);
    }
}
