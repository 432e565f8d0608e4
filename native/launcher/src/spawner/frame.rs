//! Frames between the service and the spawner, both ways: the length of the rest (4 bytes), a kind (1), the number that
//! the service has given the program (4), and the fields of the kind. Numbers are little-endian.
//!
//! | request | |
//! | --- | --- |
//! | 0 start | how many arguments (4), how many variables (4), each with a zero byte at its end, and the standard input |
//! | 1 kill | |
//! | 2 netfilter | messages for the kernel; its answers are standard output, and it ends with status 0, or fails |
//!
//! | answer | |
//! | --- | --- |
//! | 0 standard output, 1 standard error | bytes |
//! | 2 ended | exit status (4), signal (4); the one that is not there is -1 |
//! | 3 failed: it could not be started, or not applied | errno (4) |

use std::ffi::OsString;
use std::io::{Error, ErrorKind, Read};
use std::os::unix::ffi::OsStringExt;

/// More than a start with the longest standard input, a firewall ruleset.
const MOST_BYTES: usize = 16 << 20;
const HEADER_BYTES: usize = 9;
const READ_BYTES: usize = 64 << 10;

pub enum Request {
    Start(Program),
    Kill { id: u32 },
    Netfilter { id: u32, messages: Vec<u8> },
}

pub struct Program {
    pub id: u32,
    /// The first is the program.
    pub arguments: Vec<OsString>,
    /// `NAME=VALUE`
    pub variables: Vec<OsString>,
    pub input: Vec<u8>,
}

/// Splits pieces of any length into requests.
#[derive(Default)]
pub struct Reader {
    held: Vec<u8>,
}

impl Reader {
    /// Returns the complete requests; None at the end.
    pub fn read(&mut self, mut from: impl Read) -> std::io::Result<Option<Vec<Request>>> {
        let mut piece = vec![0; READ_BYTES];
        let length = from.read(&mut piece)?;
        if length == 0 {
            return Ok(None);
        }
        self.held
            .extend_from_slice(piece.get(..length).unwrap_or_default());
        let mut requests = Vec::new();
        while let Some(request) = self.next()? {
            requests.push(request);
        }
        Ok(Some(requests))
    }

    fn next(&mut self) -> std::io::Result<Option<Request>> {
        let Some(length) = number(&self.held, 0) else {
            return Ok(None);
        };
        let end = 4 + length as usize;
        if !(HEADER_BYTES..=MOST_BYTES).contains(&end) {
            return Err(Error::new(
                ErrorKind::InvalidData,
                "a frame of an invalid length",
            ));
        }
        if self.held.len() < end {
            return Ok(None);
        }
        let frame: Vec<u8> = self.held.drain(..end).collect();
        parse(&frame)
            .map(Some)
            .ok_or_else(|| Error::new(ErrorKind::InvalidData, "a frame that is not understood"))
    }
}

fn parse(frame: &[u8]) -> Option<Request> {
    let id = number(frame, 5)?;
    match frame.get(4)? {
        0 => {
            let (arguments, variables) = (number(frame, 9)? as usize, number(frame, 13)? as usize);
            let mut rest = frame.get(17..)?;
            let mut texts = Vec::new();
            for _ in 0..arguments.checked_add(variables)? {
                let end = rest.iter().position(|&byte| byte == 0)?;
                texts.push(OsString::from_vec(rest.get(..end)?.to_vec()));
                rest = rest.get(end + 1..)?;
            }
            let variables = texts.split_off(arguments);
            (!texts.is_empty()).then_some(Request::Start(Program {
                id,
                arguments: texts,
                variables,
                input: rest.to_vec(),
            }))
        }
        1 => Some(Request::Kill { id }),
        2 => Some(Request::Netfilter {
            id,
            messages: frame.get(HEADER_BYTES..)?.to_vec(),
        }),
        _ => None,
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

pub struct Answer {
    kind: u8,
    id: u32,
    rest: Vec<u8>,
}

impl Answer {
    pub fn stdout(id: u32, bytes: &[u8]) -> Self {
        Self {
            kind: 0,
            id,
            rest: bytes.to_vec(),
        }
    }

    pub fn stderr(id: u32, bytes: &[u8]) -> Self {
        Self {
            kind: 1,
            id,
            rest: bytes.to_vec(),
        }
    }

    pub fn ended(id: u32, status: Option<i32>, signal: Option<i32>) -> Self {
        let [status, signal] = [status, signal].map(|number| number.unwrap_or(-1).to_le_bytes());
        Self {
            kind: 2,
            id,
            rest: [status, signal].concat(),
        }
    }

    pub fn failed(id: u32, error: &Error) -> Self {
        let errno = error.raw_os_error().unwrap_or(libc::EINVAL);
        Self {
            kind: 3,
            id,
            rest: errno.to_le_bytes().to_vec(),
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let length = (HEADER_BYTES - 4 + self.rest.len()) as u32;
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.push(self.kind);
        bytes.extend(self.id.to_le_bytes());
        bytes.extend(&self.rest);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KILL_7: [u8; 9] = [5, 0, 0, 0, 1, 7, 0, 0, 0];

    fn start(rest: &[u8]) -> Vec<u8> {
        let mut frame = ((5 + rest.len()) as u32).to_le_bytes().to_vec();
        frame.extend([0, 9, 0, 0, 0]);
        frame.extend(rest);
        frame
    }

    #[test]
    fn a_start_has_arguments_variables_and_input() {
        let rest = [&[2, 0, 0, 0, 1, 0, 0, 0][..], b"/bin/cat\0-\0A=b=c\0\0in"].concat();
        let Some(Request::Start(program)) = parse(&start(&rest)) else {
            panic!("not a start");
        };
        assert_eq!(program.id, 9);
        assert_eq!(program.arguments, ["/bin/cat", "-"]);
        assert_eq!(program.variables, ["A=b=c"]);
        assert_eq!(program.input, b"\0in");
    }

    #[test]
    fn requests_come_in_pieces_of_any_length() {
        let two = [KILL_7, KILL_7].concat();
        let mut reader = Reader::default();
        let mut count = 0;
        for piece in two.chunks(5) {
            count += reader.read(piece).expect("sound").expect("no end").len();
        }
        assert_eq!(count, 2);
        assert!(reader.read(&[][..]).expect("sound").is_none());
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for wrong in [
            &[4, 0, 0, 0, 1, 7, 0, 0][..],
            &[255, 255, 255, 255, 1][..],
            &[5, 0, 0, 0, 9, 7, 0, 0, 0][..],
            &start(&[1, 0, 0, 0, 0, 0, 0, 0, b'a']),
            &start(&[0, 0, 0, 0, 0, 0, 0, 0]),
            &start(&[255, 255, 255, 255, 255, 255, 255, 255]),
        ] {
            assert!(Reader::default().read(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn an_answer_says_how_a_program_ended() {
        let bytes = Answer::ended(7, None, Some(9)).bytes();
        let rest = [255, 255, 255, 255, 9, 0, 0, 0];
        assert_eq!(bytes, [&[13, 0, 0, 0, 2, 7, 0, 0, 0][..], &rest].concat());
    }
}
