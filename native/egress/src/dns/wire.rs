//! Fields of DNS messages.

use crate::policy::parse_name;

pub const HEADER: usize = 12;
pub const INTERNET: u16 = 1;

pub const IS_RESPONSE: u16 = 0x8000;
pub const OPCODE: u16 = 0x7800;
pub const IS_CUT: u16 = 0x0200;
pub const WANTS_RECURSION: u16 = 0x0100;
pub const HAS_RECURSION: u16 = 0x0080;
pub const CODE: u16 = 0x000f;

pub fn number(message: &[u8], at: usize) -> Option<u16> {
    let bytes = message.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

/// True for a truncated message, which is complete over TCP.
pub fn is_cut(message: &[u8]) -> bool {
    number(message, 2).is_some_and(|flags| flags & IS_CUT != 0)
}

/// A name in lower case without a dot at its end, and the offset of the next field. `text` is None for a name
/// that no host can have, such as one with a dot inside a label.
pub struct Name {
    pub text: Option<String>,
    pub end: usize,
}

const POINTER: u8 = 0xc0;
/// Longest name. Pointers lead backwards only, so it bounds their number too.
const LONGEST: usize = 255;

/// Reads a name, with pointers where they are allowed. None for one that does not end.
pub fn name(message: &[u8], at: usize, has_pointers: bool) -> Option<Name> {
    let mut labels: Vec<&[u8]> = Vec::new();
    let (mut here, mut end, mut length) = (at, None, 0);
    loop {
        let size = *message.get(here)?;
        match size & POINTER {
            0 if size == 0 => break,
            0 => {
                let label = message.get(here + 1..here + 1 + usize::from(size))?;
                labels.push(label);
                length += 1 + label.len();
                here += 1 + label.len();
            }
            POINTER if has_pointers => {
                let target = usize::from(number(message, here)? & 0x3fff);
                end.get_or_insert(here + 2);
                if target >= here {
                    return None;
                }
                here = target;
                length += 1;
            }
            _ => return None,
        }
        if length >= LONGEST {
            return None;
        }
    }
    let has_dot = labels.iter().any(|label| label.contains(&b'.'));
    let text = if has_dot {
        None
    } else {
        parse_name(&labels.join(&b'.'))
    };
    Some(Name {
        text,
        end: end.unwrap_or(here + 1),
    })
}

pub fn write_name(message: &mut Vec<u8>, name: &str) {
    for label in name.split('.') {
        message.push(label.len() as u8);
        message.extend_from_slice(label.as_bytes());
    }
    message.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_lower_case_and_has_an_end() {
        let found = name(b"\x03API\x07example\x03com\x00rest", 0, false).unwrap();
        assert_eq!(
            (found.text.as_deref(), found.end),
            (Some("api.example.com"), 17)
        );
    }

    #[test]
    fn pointers_lead_backwards_and_only_where_they_are_allowed() {
        let message = b"\x03com\x00\x01a\xc0\x00\xff";
        let found = name(message, 5, true).unwrap();
        assert_eq!((found.text.as_deref(), found.end), (Some("a.com"), 9));
        assert!(name(message, 5, false).is_none());
        assert!(name(b"\xc0\x00", 0, true).is_none());
        assert!(name(b"\x01a\xc0\x00", 0, true).is_none());
        assert!(name(b"\xc0\x02\x01a\x00", 0, true).is_none());
    }

    #[test]
    fn what_does_not_end_or_is_too_long_has_no_name() {
        assert!(name(b"\x03ab", 0, true).is_none());
        assert!(name(b"\x01a", 0, true).is_none());
        assert!(name(b"\x41a\x00", 0, true).is_none());
        assert!(name(&[b"\x01a".repeat(130), vec![0]].concat(), 0, true).is_none());
    }

    #[test]
    fn labels_that_are_no_hosts_have_no_text() {
        for message in [
            &b"\x09a.example\x00"[..],
            b"\x03a b\x00",
            b"\x02a\x00\x00",
            b"\x00",
            b"\x07\xffabcdef\x00",
        ] {
            assert_eq!(name(message, 0, false).unwrap().text, None);
        }
    }
}
