//! Finds the end of a message's body while its bytes pass.

use super::fault::{Fault, malformed};
use super::head::{self, Head};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Length(u64),
    Chunked,
    /// The body of a response alone, which ends with its connection.
    UntilEnd,
}

impl Framing {
    /// Framing that the head states; None where it states none. Two statements, or an unusual one, are malformed.
    pub fn stated(head: &Head) -> Result<Option<Framing>, Fault> {
        let length = head.one("content-length")?;
        let encoding = head.one("transfer-encoding")?;
        match (length, encoding) {
            (None, None) => Ok(None),
            (None, Some(coding)) if coding.eq_ignore_ascii_case("chunked") => {
                Ok(Some(Framing::Chunked))
            }
            (None, Some(_)) => Err(malformed("a transfer encoding other than chunked")),
            (Some(digits), None) if is_length(digits) => {
                let length = digits.parse().map_err(|_| malformed("a wrong length"))?;
                Ok(Some(Framing::Length(length)))
            }
            (Some(_), None) => Err(malformed("a wrong length")),
            (Some(_), Some(_)) => Err(malformed("a length beside a transfer encoding")),
        }
    }
}

fn is_length(digits: &str) -> bool {
    (1..=18).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Longest line of a chunk's size or of a trailer, and all trailers of a message.
const LONGEST_LINE: usize = 4096;
const MOST_TRAILERS: usize = 16 * 1024;

pub struct Body {
    state: State,
    /// A line that is not complete yet.
    line: Vec<u8>,
    trailers: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Bytes(u64),
    Forever,
    Size,
    Chunk(u64),
    /// The line break behind a chunk.
    ChunkEnd,
    Trailers,
    Over,
}

impl Body {
    pub fn new(framing: Framing) -> Body {
        let state = match framing {
            Framing::Length(0) => State::Over,
            Framing::Length(length) => State::Bytes(length),
            Framing::Chunked => State::Size,
            Framing::UntilEnd => State::Forever,
        };
        Body {
            state,
            line: Vec::new(),
            trailers: 0,
        }
    }

    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// Returns the number of bytes that belong to the body. The rest belongs to the next message.
    pub fn take(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        let mut at = 0;
        while at < bytes.len() && !self.is_over() {
            at += self.step(&bytes[at..])?;
        }
        Ok(at)
    }

    fn step(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        let taken = |left: u64| (bytes.len() as u64).min(left);
        match self.state {
            State::Forever => Ok(bytes.len()),
            State::Over => Ok(0),
            State::Bytes(left) => {
                let count = taken(left);
                self.state = if count == left {
                    State::Over
                } else {
                    State::Bytes(left - count)
                };
                Ok(count as usize)
            }
            State::Chunk(left) => {
                let count = taken(left);
                self.state = if count == left {
                    State::ChunkEnd
                } else {
                    State::Chunk(left - count)
                };
                Ok(count as usize)
            }
            State::Size | State::ChunkEnd | State::Trailers => self.step_line(bytes),
        }
    }

    /// Takes one byte of a line at a time, so that a line break across two pieces is still found.
    fn step_line(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        let previous = self.line.last().copied();
        self.line.push(bytes[0]);
        match (previous, bytes[0]) {
            (Some(b'\r'), b'\n') => {}
            (Some(b'\r'), _) | (_, b'\n') => {
                return Err(malformed("a line that ends in another way than CR LF"));
            }
            _ if self.line.len() > LONGEST_LINE => {
                return Err(malformed("a line of a chunk that does not end"));
            }
            _ => return Ok(1),
        }
        let line = &self.line[..self.line.len() - 2];
        self.state = match self.state {
            State::ChunkEnd if line.is_empty() => State::Size,
            State::ChunkEnd => return Err(malformed("a chunk longer than its size")),
            State::Size => match size(line)? {
                0 => State::Trailers,
                size => State::Chunk(size),
            },
            _ if line.is_empty() => State::Over,
            _ => {
                head::field(line)?;
                self.trailers += line.len();
                State::Trailers
            }
        };
        if self.trailers > MOST_TRAILERS {
            return Err(malformed("too many trailers"));
        }
        self.line.clear();
        Ok(1)
    }
}

fn size(line: &[u8]) -> Result<u64, Fault> {
    let digits = line.split(|&byte| byte == b';').next().unwrap_or_default();
    let extension = &line[digits.len()..];
    let is_plain = extension
        .iter()
        .all(|&byte| byte == b'\t' || (b' '..0x7f).contains(&byte));
    let is_size = (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).unwrap_or_default();
    match u64::from_str_radix(text, 16) {
        Ok(size) if is_size && is_plain => Ok(size),
        _ => Err(malformed("a wrong size of a chunk")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(fields: &str) -> Result<Option<Framing>, Fault> {
        let head = Head::read(format!("POST / HTTP/1.1\r\n{fields}\r\n").as_bytes());
        Framing::stated(&head.unwrap().unwrap())
    }

    /// Bytes of the body in each message, fed in pieces of that size.
    fn taken(text: &[u8], piece: usize) -> Result<(usize, bool), Fault> {
        let mut body = Body::new(Framing::Chunked);
        let mut sum = 0;
        for part in text.chunks(piece) {
            sum += body.take(part)?;
        }
        Ok((sum, body.is_over()))
    }

    #[test]
    fn a_length_or_chunks_frame_a_body() {
        assert_eq!(stated(""), Ok(None));
        assert_eq!(
            stated("Content-Length: 12\r\n"),
            Ok(Some(Framing::Length(12)))
        );
        assert_eq!(
            stated("transfer-encoding: Chunked\r\n"),
            Ok(Some(Framing::Chunked))
        );
    }

    #[test]
    fn framing_that_can_be_read_in_two_ways_is_malformed() {
        let tricks = [
            "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
            "Content-Length: 1\r\nContent-Length: 1\r\n",
            "Content-Length: 1\r\nContent-Length: 2\r\n",
            "Content-Length: 1, 1\r\n",
            "Content-Length: +1\r\n",
            "Content-Length: -1\r\n",
            "Content-Length: 0x1\r\n",
            "Content-Length: 1 1\r\n",
            "Content-Length:\r\n",
            "Content-Length: 9999999999999999999\r\n",
            "Transfer-Encoding: identity\r\n",
            "Transfer-Encoding:\r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
            "Transfer-Encoding: chunked, chunked\r\n",
            "Transfer-Encoding: xchunked\r\n",
            "Transfer-Encoding: \u{b}chunked\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        ];
        for fields in tricks {
            let head = Head::read(format!("POST / HTTP/1.1\r\n{fields}\r\n").as_bytes());
            assert!(
                head.and_then(|head| Framing::stated(&head.unwrap()))
                    .is_err(),
                "{fields:?}"
            );
        }
    }

    #[test]
    fn a_body_of_a_length_ends_there() {
        let mut body = Body::new(Framing::Length(5));
        assert_eq!(body.take(b"abc"), Ok(3));
        assert!(!body.is_over());
        assert_eq!(body.take(b"deGET / "), Ok(2));
        assert!(body.is_over());
        assert!(Body::new(Framing::Length(0)).is_over());
    }

    #[test]
    fn chunks_end_with_an_empty_one_and_trailers_in_pieces_of_any_size() {
        let text = b"3\r\nabc\r\nA;name=value\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\nGET /";
        for piece in 1..text.len() {
            assert_eq!(
                taken(text, piece),
                Ok((text.len() - 5, true)),
                "pieces of {piece}"
            );
        }
    }

    #[test]
    fn chunks_that_can_be_read_in_two_ways_are_malformed() {
        let tricks: [&[u8]; 16] = [
            b"3\nabc\r\n0\r\n\r\n",
            b"3\r\nabcd\r\n",
            b"3\r\nabc\n0\r\n\r\n",
            b"+3\r\nabc\r\n",
            b"0x3\r\nabc\r\n",
            b" 3\r\nabc\r\n",
            b"3 \r\nabc\r\n",
            b"\r\nabc\r\n",
            b"g\r\n",
            b"1000000000000000\r\n",
            b";a\r\n",
            b"3;a\nb\r\nabc\r\n",
            b"3;\x0b\r\nabc\r\n",
            b"0\r\nno field\r\n\r\n",
            b"0\r\n X: folded\r\n\r\n",
            b"3\rabc\r\n",
        ];
        for text in tricks {
            assert!(
                taken(text, text.len()).is_err(),
                "{:?}",
                text.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn lines_and_trailers_have_bounds() {
        assert!(taken(&[b"3;".to_vec(), b"a".repeat(5000)].concat(), 100).is_err());
        let trailers = b"X-Trailer: 0123456789012345678901234567890\r\n".repeat(600);
        assert!(taken(&[b"0\r\n".to_vec(), trailers].concat(), 1000).is_err());
    }
}
