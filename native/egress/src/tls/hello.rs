//! Parses a ClientHello to its last byte. One that servers could read in two ways is malformed.

use super::cursor::Cursor;
use super::records;
use super::unread::Unread;
use crate::policy::parse_name;

const CLIENT_HELLO: usize = 1;
const RANDOM: usize = 32;
const LONGEST_SESSION: usize = 32;
const SERVER_NAME: usize = 0;
const HOST_NAME: usize = 0;

#[derive(Debug, PartialEq, Eq)]
pub struct Hello {
    /// Lower case; None where the client sent none.
    pub server_name: Option<String>,
}

/// Reads the hello at the beginning of the bytes. An encrypted inner hello (ECH) is not examined: it goes to
/// an address of the outer name.
pub fn read(bytes: &[u8]) -> Result<Hello, Unread> {
    let message = records::first_message(bytes)?;
    let extensions = extensions(&message).ok_or(Unread::Malformed("a malformed hello"))?;
    let mut seen = Vec::new();
    let mut server_name = None;
    for (kind, content) in extensions {
        if seen.contains(&kind) {
            return Err(Unread::Malformed("an extension twice"));
        }
        seen.push(kind);
        if kind == SERVER_NAME {
            server_name =
                Some(only_name(content).ok_or(Unread::Malformed("no single server name"))?);
        }
    }
    Ok(Hello { server_name })
}

fn extensions(message: &[u8]) -> Option<Vec<(usize, &[u8])>> {
    let mut cursor = Cursor::new(message);
    let kind = cursor.number(1)?;
    let mut body = Cursor::new(cursor.field(3)?);
    let major = body.number(1)?;
    body.take(1 + RANDOM)?;
    let session = body.field(1)?;
    let suites = body.field(2)?;
    let compressions = body.field(1)?;
    let is_right = kind == CLIENT_HELLO
        && major == 3
        && session.len() <= LONGEST_SESSION
        && suites.len() >= 2
        && suites.len() % 2 == 0
        && !compressions.is_empty();
    if !is_right {
        return None;
    }
    let mut found = Vec::new();
    if body.is_over() {
        return Some(found);
    }
    let mut list = Cursor::new(body.field(2)?);
    while !list.is_over() {
        found.push((list.number(2)?, list.field(2)?));
    }
    body.is_over().then_some(found)
}

/// Reads a list of one name, which must be a host name.
fn only_name(content: &[u8]) -> Option<String> {
    let mut cursor = Cursor::new(content);
    let mut list = Cursor::new(cursor.field(2)?);
    let kind = list.number(1)?;
    let name = list.field(2)?;
    let is_only = kind == HOST_NAME && list.is_over() && cursor.is_over();
    parse_name(name).filter(|_| is_only)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(length_bytes: usize, content: &[u8]) -> Vec<u8> {
        let length = (content.len() as u32).to_be_bytes();
        [&length[4 - length_bytes..], content].concat()
    }

    fn extension(kind: u16, content: &[u8]) -> Vec<u8> {
        [&kind.to_be_bytes()[..], &field(2, content)].concat()
    }

    fn names(names: &[(u8, &[u8])]) -> Vec<u8> {
        let list: Vec<u8> = names
            .iter()
            .flat_map(|(kind, name)| [vec![*kind], field(2, name)].concat())
            .collect();
        extension(0, &field(2, &list))
    }

    fn message(extensions: &[u8]) -> Vec<u8> {
        let body = [
            &[3, 3][..],
            &[7; 32],
            &field(1, &[5; 32]),
            &field(2, &[0x13, 1, 0x13, 2]),
            &field(1, &[0]),
            &field(2, extensions),
        ];
        [vec![1], field(3, &body.concat())].concat()
    }

    fn record(content: &[u8]) -> Vec<u8> {
        [&[22, 3, 1][..], &field(2, content)].concat()
    }

    fn hello(extensions: &[u8]) -> Vec<u8> {
        record(&message(extensions))
    }

    fn malformed(bytes: &[u8]) -> bool {
        matches!(read(bytes), Err(Unread::Malformed(_)))
    }

    fn name_in(bytes: &[u8]) -> Option<String> {
        read(bytes).unwrap().server_name
    }

    #[test]
    fn the_server_name_is_read_beside_other_extensions() {
        let one = names(&[(0, b"API.example.com")]);
        let grease = extension(0x0a0a, &[]);
        let ech = extension(0xfe0d, &[0; 200]);
        let all = [&grease[..], &ech, &one, &extension(43, &[2, 3, 4])].concat();
        assert_eq!(name_in(&hello(&all)).as_deref(), Some("api.example.com"));
        assert_eq!(name_in(&hello(&grease)), None);
        assert_eq!(name_in(&hello(&[])), None);
    }

    #[test]
    fn pieces_of_any_size_make_one_hello() {
        let message = message(&names(&[(0, b"a.example")]));
        for size in [1, 2, 3, 5, 60, message.len()] {
            let pieces: Vec<u8> = message.chunks(size).flat_map(record).collect();
            assert_eq!(
                name_in(&pieces).as_deref(),
                Some("a.example"),
                "pieces of {size}"
            );
        }
    }

    #[test]
    fn a_hello_that_is_cut_anywhere_is_incomplete() {
        let whole = hello(&names(&[(0, b"a.example")]));
        for length in 0..whole.len() {
            assert_eq!(
                read(&whole[..length]),
                Err(Unread::Incomplete),
                "{length} bytes"
            );
        }
    }

    #[test]
    fn records_after_the_hello_do_not_matter() {
        let early_data = [23, 3, 3, 0, 1, 9];
        let bytes = [hello(&names(&[(0, b"a.example")])), early_data.to_vec()].concat();
        assert_eq!(name_in(&bytes).as_deref(), Some("a.example"));
    }

    #[test]
    fn several_names_or_none_in_a_list_are_malformed() {
        assert!(malformed(&hello(&names(&[
            (0, b"a.example"),
            (0, b"b.example")
        ]))));
        assert!(malformed(&hello(&names(&[
            (0, b"a.example"),
            (1, b"b.example")
        ]))));
        assert!(malformed(&hello(&names(&[(1, b"a.example")]))));
        assert!(malformed(&hello(&names(&[]))));
        let twice = [names(&[(0, b"a.example")]), names(&[(0, b"b.example")])].concat();
        assert!(malformed(&hello(&twice)));
        assert!(malformed(&hello(
            &[extension(43, &[]), extension(43, &[])].concat()
        )));
    }

    #[test]
    fn what_is_no_name_is_malformed() {
        let wrong: [&[u8]; 6] = [
            b"",
            b"1.2.3.4",
            b"a.example.",
            b"a.example\0.b",
            b"a b",
            b"::1",
        ];
        for name in wrong {
            assert!(
                malformed(&hello(&names(&[(0, name)]))),
                "{:?}",
                name.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn lengths_that_lie_are_malformed() {
        let good = message(&names(&[(0, b"a.example")]));
        // Each length inside, by one more or less; the message's own is the one of its record, too.
        for at in [38, 72, 77, 80, 84, 86, 89] {
            for by in [1, 255] {
                let mut bytes = good.clone();
                bytes[at] = bytes[at].wrapping_add(by);
                assert!(malformed(&record(&bytes)), "byte {at} by {by}");
            }
        }
        let trailing = [&good[..], &[0]].concat();
        assert!(malformed(&record(&trailing)));
    }

    #[test]
    fn other_records_and_versions_are_malformed() {
        let good = message(&names(&[(0, b"a.example")]));
        let (first, rest) = good.split_at(40);
        let alert = [21, 3, 1, 0, 2, 1, 0];
        assert!(malformed(
            &[record(first), alert.to_vec(), record(rest)].concat()
        ));
        assert!(malformed(&[&[22, 2, 0, 0, 5][..], b"hello"].concat()));
        assert!(malformed(&[22, 3, 1, 0, 0]));
        assert!(malformed(&[22, 3, 1, 0x40, 1]));
        let mut server_hello = good.clone();
        server_hello[0] = 2;
        assert!(malformed(&record(&server_hello)));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
            let _ = read(&bytes);
            let _ = read(&record(&bytes));
            let _ = read(&record(&[vec![1], field(3, &bytes)].concat()));
        }
    }
}
