//! Queries of sandboxes: exactly one question, checked to the last byte.

use super::wire::{HEADER, INTERNET, IS_RESPONSE, OPCODE, name, number};

#[derive(Debug, PartialEq, Eq)]
pub struct Query {
    pub id: u16,
    /// None for a name that no host can have.
    pub name: Option<String>,
    pub kind: u16,
    /// The question as it was asked, for the answer.
    pub question: Vec<u8>,
    /// Bytes that the client takes over UDP; None without EDNS.
    pub udp_bytes: Option<u16>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Unread {
    /// Not a query: it gets no answer.
    Nothing,
    Malformed {
        id: u16,
    },
    OtherOperation {
        id: u16,
    },
}

pub mod record_types {
    pub const A: u16 = 1;
    pub const CNAME: u16 = 5;
    pub const AAAA: u16 = 28;
    pub const OPT: u16 = 41;
    pub const SVCB: u16 = 64;
    pub const HTTPS: u16 = 65;
}

/// Longer ones carry more than a question and its options.
const LONGEST: usize = 512;

impl Query {
    pub fn read(message: &[u8]) -> Result<Query, Unread> {
        let (Some(id), Some(flags)) = (number(message, 0), number(message, 2)) else {
            return Err(Unread::Nothing);
        };
        if message.len() < HEADER || flags & IS_RESPONSE != 0 {
            return Err(Unread::Nothing);
        }
        if flags & OPCODE != 0 {
            return Err(Unread::OtherOperation { id });
        }
        Query::parse(message, id).ok_or(Unread::Malformed { id })
    }

    fn parse(message: &[u8], id: u16) -> Option<Query> {
        let count = |at| number(message, at);
        let has_options = match [count(4)?, count(6)?, count(8)?, count(10)?] {
            [1, 0, 0, 0] => false,
            [1, 0, 0, 1] => true,
            _ => return None,
        };
        let asked = name(message, HEADER, false)?;
        let kind = number(message, asked.end)?;
        let end = asked.end + 4;
        if number(message, asked.end + 2)? != INTERNET || message.len() > LONGEST {
            return None;
        }
        let udp_bytes = match has_options {
            true => Some(options(message.get(end..)?)?),
            false if message.len() == end => None,
            false => return None,
        };
        Some(Query {
            id,
            name: asked.text,
            kind,
            question: message[HEADER..end].to_vec(),
            udp_bytes,
        })
    }
}

/// Parses the rest of the message, which must be one OPT record. Returns its size.
fn options(rest: &[u8]) -> Option<u16> {
    let is_right = rest.first() == Some(&0)
        && number(rest, 1)? == record_types::OPT
        && rest.len() == 11 + usize::from(number(rest, 9)?);
    if is_right { number(rest, 3) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: &[u8] = b"\x01a\x07example\x00\x00\x01\x00\x01";
    const OPTIONS: &[u8] = b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00";

    fn message(flags: u16, counts: [u8; 4], rest: &[u8]) -> Vec<u8> {
        let mut message = vec![7, 9];
        message.extend(flags.to_be_bytes());
        message.extend(counts.iter().flat_map(|&count| [0, count]));
        message.extend(rest);
        message
    }

    #[test]
    fn one_question_is_read_with_and_without_edns() {
        let plain = Query::read(&message(0x0100, [1, 0, 0, 0], QUESTION)).unwrap();
        assert_eq!(
            (plain.id, plain.name.as_deref(), plain.kind),
            (0x0709, Some("a.example"), 1)
        );
        assert_eq!(
            (plain.question.as_slice(), plain.udp_bytes),
            (QUESTION, None)
        );
        let with_edns = message(0x0100, [1, 0, 0, 1], &[QUESTION, OPTIONS].concat());
        assert_eq!(Query::read(&with_edns).unwrap().udp_bytes, Some(1232));
    }

    #[test]
    fn what_is_no_query_gets_no_answer() {
        assert_eq!(Query::read(b""), Err(Unread::Nothing));
        assert_eq!(Query::read(&[0; 11]), Err(Unread::Nothing));
        assert_eq!(
            Query::read(&message(0x8180, [1, 0, 0, 0], QUESTION)),
            Err(Unread::Nothing)
        );
    }

    #[test]
    fn tricks_are_malformed() {
        let two = [QUESTION, QUESTION].concat();
        let long = [QUESTION, OPTIONS, &[0; 500]].concat();
        let padded = [
            QUESTION,
            b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x02\x00",
            &[0; 512],
        ]
        .concat();
        let tricks: [([u8; 4], &[u8]); 10] = [
            ([2, 0, 0, 0], &two),
            ([0, 0, 0, 0], b""),
            ([1, 0, 0, 0], &two),
            ([1, 1, 0, 0], &two),
            ([1, 0, 1, 0], QUESTION),
            ([1, 0, 0, 2], &[QUESTION, OPTIONS, OPTIONS].concat()),
            ([1, 0, 0, 1], QUESTION),
            ([1, 0, 0, 1], &long),
            ([1, 0, 0, 1], &padded),
            ([1, 0, 0, 0], b"\x01a\xc0\x0c\x00\x01\x00\x01"),
        ];
        for (counts, rest) in tricks {
            assert_eq!(
                Query::read(&message(0, counts, rest)),
                Err(Unread::Malformed { id: 0x0709 }),
                "{rest:?}"
            );
        }
        let other_class = b"\x01a\x07example\x00\x00\x01\x00\x03";
        assert_eq!(
            Query::read(&message(0, [1, 0, 0, 0], other_class)),
            Err(Unread::Malformed { id: 0x0709 })
        );
        let update = message(0x2800, [1, 0, 0, 0], QUESTION);
        assert_eq!(
            Query::read(&update),
            Err(Unread::OtherOperation { id: 0x0709 })
        );
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..100)) {
            let _ = Query::read(&bytes);
            let _ = Query::read(&message(0, [1, 0, 0, 1], &bytes));
        }
    }
}
