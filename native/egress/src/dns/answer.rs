//! The question to an upstream resolver, and its answer: addresses behind a chain of aliases that begins with the asked name.

use super::query::record_types::{A, CNAME, OPT};
use super::wire::{
    CODE, HEADER, INTERNET, IS_CUT, IS_RESPONSE, WANTS_RECURSION, name, number, write_name,
};
use std::net::Ipv4Addr;

#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// None where the name exists without addresses.
    Addresses {
        addresses: Vec<Ipv4Addr>,
        ttl_seconds: u32,
    },
    NoSuchName,
    /// Another resolver may know more.
    Failure,
}

/// Bytes that answers over UDP may have, so that they arrive in one packet.
const UDP_BYTES: u16 = 1232;
const LONGEST_CHAIN: usize = 16;
const MOST_RECORDS: usize = 512;
const NO_SUCH_NAME: u16 = 3;

pub fn write_question(id: u16, name: &str) -> Vec<u8> {
    let mut message = Vec::with_capacity(64);
    for field in [id, WANTS_RECURSION, 1, 0, 0, 1] {
        message.extend(field.to_be_bytes());
    }
    write_name(&mut message, name);
    for field in [A, INTERNET] {
        message.extend(field.to_be_bytes());
    }
    message.push(0);
    for field in [OPT, UDP_BYTES, 0, 0, 0] {
        message.extend(field.to_be_bytes());
    }
    message
}

/// None for a message that is not a complete answer to this question; the right one may still come.
pub fn read_answer(message: &[u8], id: u16, asked: &str) -> Option<Found> {
    let flags = number(message, 2)?;
    let question = name(message, HEADER, false)?;
    let is_own = number(message, 0)? == id
        && flags & IS_RESPONSE != 0
        && flags & IS_CUT == 0
        && number(message, 4)? == 1
        && question.text.as_deref() == Some(asked)
        && number(message, question.end)? == A
        && number(message, question.end + 2)? == INTERNET;
    if !is_own {
        return None;
    }
    match flags & CODE {
        0 => {}
        NO_SUCH_NAME => return Some(Found::NoSuchName),
        _ => return Some(Found::Failure),
    }
    let count = usize::from(number(message, 6)?);
    let records = records(message, question.end + 4, count)?;
    Some(follow(&records, asked))
}

struct Record {
    name: String,
    ttl_seconds: u32,
    data: Data,
}

enum Data {
    Address(Ipv4Addr),
    Alias(String),
}

fn records(message: &[u8], mut at: usize, count: usize) -> Option<Vec<Record>> {
    let mut found = Vec::new();
    for _ in 0..count.min(MOST_RECORDS) {
        let owner = name(message, at, true)?;
        let field = |offset| number(message, owner.end + offset);
        let (kind, class) = (field(0)?, field(2)?);
        let ttl_seconds = u32::from(field(4)?) << 16 | u32::from(field(6)?);
        let length = usize::from(field(8)?);
        let start = owner.end + 10;
        let content = message.get(start..start + length)?;
        at = start + length;
        let data = match (kind, content) {
            (A, &[a, b, c, d]) => Some(Data::Address(Ipv4Addr::new(a, b, c, d))),
            (A, _) => return None,
            (CNAME, _) => {
                let alias = name(message, start, true)?;
                if alias.end != at {
                    return None;
                }
                alias.text.map(Data::Alias)
            }
            _ => None,
        };
        if let (INTERNET, Some(name), Some(data)) = (class, owner.text, data) {
            // The highest bit means zero (RFC 2181).
            let ttl_seconds = if ttl_seconds >> 31 == 1 {
                0
            } else {
                ttl_seconds
            };
            found.push(Record {
                name,
                ttl_seconds,
                data,
            });
        }
    }
    Some(found)
}

fn follow(records: &[Record], asked: &str) -> Found {
    let mut name = asked;
    let mut ttl_seconds = u32::MAX;
    for _ in 0..LONGEST_CHAIN {
        let own = || records.iter().filter(|record| record.name == name);
        let addresses: Vec<Ipv4Addr> = own()
            .filter_map(|record| match record.data {
                Data::Address(address) => Some(address),
                Data::Alias(_) => None,
            })
            .collect();
        ttl_seconds = own()
            .map(|record| record.ttl_seconds)
            .fold(ttl_seconds, u32::min);
        let alias = own().find_map(|record| match &record.data {
            Data::Alias(alias) => Some(alias),
            Data::Address(_) => None,
        });
        match alias {
            Some(alias) if addresses.is_empty() => name = alias,
            _ => {
                return Found::Addresses {
                    addresses,
                    ttl_seconds,
                };
            }
        }
    }
    Found::Failure
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: u16 = 0x1234;

    fn record(name: &str, kind: u16, ttl_seconds: u32, data: &[u8]) -> Vec<u8> {
        let mut record = Vec::new();
        write_name(&mut record, name);
        record.extend(kind.to_be_bytes());
        record.extend([0, 1]);
        record.extend(ttl_seconds.to_be_bytes());
        record.extend((data.len() as u16).to_be_bytes());
        record.extend(data);
        record
    }

    fn alias(name: &str, to: &str) -> Vec<u8> {
        let mut data = Vec::new();
        write_name(&mut data, to);
        record(name, CNAME, 30, &data)
    }

    fn message(flags: u16, asked: &str, records: &[Vec<u8>]) -> Vec<u8> {
        let mut message = Vec::new();
        for field in [ID, flags, 1, records.len() as u16, 0, 0] {
            message.extend(field.to_be_bytes());
        }
        write_name(&mut message, asked);
        message.extend([0, 1, 0, 1]);
        message.extend(records.concat());
        message
    }

    fn found(records: &[Vec<u8>]) -> Option<Found> {
        read_answer(&message(0x8180, "a.example", records), ID, "a.example")
    }

    fn addresses(addresses: &[[u8; 4]], ttl_seconds: u32) -> Option<Found> {
        let addresses = addresses.iter().map(|&address| address.into()).collect();
        Some(Found::Addresses {
            addresses,
            ttl_seconds,
        })
    }

    #[test]
    fn addresses_of_the_asked_name_count() {
        let records = [
            record("a.example", A, 300, &[1, 2, 3, 4]),
            record("A.EXAMPLE", A, 60, &[5, 6, 7, 8]),
        ];
        assert_eq!(
            found(&records),
            addresses(&[[1, 2, 3, 4], [5, 6, 7, 8]], 60)
        );
        assert_eq!(found(&[]), addresses(&[], u32::MAX));
    }

    #[test]
    fn aliases_are_followed_and_have_the_shortest_life() {
        let records = [
            alias("a.example", "b.example"),
            alias("b.example", "c.cdn.example"),
            record("c.cdn.example", A, 300, &[1, 2, 3, 4]),
        ];
        assert_eq!(found(&records), addresses(&[[1, 2, 3, 4]], 30));
    }

    #[test]
    fn records_of_other_names_do_not_count() {
        let records = [
            record("b.example", A, 300, &[1, 2, 3, 4]),
            record("example", A, 300, &[1, 2, 3, 4]),
        ];
        assert_eq!(found(&records), addresses(&[], u32::MAX));
    }

    #[test]
    fn a_chain_has_an_end() {
        assert_eq!(
            found(&[
                alias("a.example", "b.example"),
                alias("b.example", "a.example")
            ]),
            Some(Found::Failure)
        );
    }

    #[test]
    fn a_message_of_another_question_is_no_answer() {
        let right = message(
            0x8180,
            "a.example",
            &[record("a.example", A, 300, &[1, 2, 3, 4])],
        );
        assert!(read_answer(&right, ID, "a.example").is_some());
        assert_eq!(read_answer(&right, ID + 1, "a.example"), None);
        assert_eq!(read_answer(&right, ID, "b.example"), None);
        assert_eq!(
            read_answer(&message(0x0180, "a.example", &[]), ID, "a.example"),
            None
        );
        assert_eq!(
            read_answer(&message(0x8380, "a.example", &[]), ID, "a.example"),
            None
        );
        for length in 0..right.len() {
            assert_eq!(
                read_answer(&right[..length], ID, "a.example"),
                None,
                "{length} bytes"
            );
        }
    }

    #[test]
    fn codes_are_told_apart() {
        let code = |flags| read_answer(&message(flags, "a.example", &[]), ID, "a.example");
        assert_eq!(code(0x8183), Some(Found::NoSuchName));
        assert_eq!(code(0x8182), Some(Found::Failure));
        assert_eq!(code(0x8185), Some(Found::Failure));
    }

    #[test]
    fn an_address_of_another_size_makes_the_whole_unread() {
        assert_eq!(found(&[record("a.example", A, 300, &[1, 2, 3])]), None);
        assert_eq!(found(&[record("a.example", A, 300, &[0; 16])]), None);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..100)) {
            let _ = read_answer(&bytes, ID, "a.example");
            let _ = found(&[bytes]);
        }
    }
}
