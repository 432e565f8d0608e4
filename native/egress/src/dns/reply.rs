//! Answers to sandboxes. A refusal has the reason, and the rule that would allow the name (extended errors, RFC 8914).

use super::query::Query;
use super::query::record_types::{A, OPT};
use super::wire::{HAS_RECURSION, INTERNET, IS_CUT, IS_RESPONSE, WANTS_RECURSION};
use std::net::Ipv4Addr;

pub mod code {
    pub const NO_ERROR: u16 = 0;
    pub const MALFORMED: u16 = 1;
    pub const SERVER_FAILURE: u16 = 2;
    pub const NO_SUCH_NAME: u16 = 3;
    pub const NOT_IMPLEMENTED: u16 = 4;
    pub const REFUSED: u16 = 5;
}

const EXTENDED_ERROR: u16 = 15;
const BLOCKED: u16 = 15;
const LONGEST_TEXT: usize = 400;
/// Bytes of an answer over UDP: to a client without EDNS, and at most.
const SMALLEST_UDP: usize = 512;
const LARGEST_UDP: usize = 1232;
/// Points to the name of the question.
const ASKED_NAME: u16 = 0xc00c;

#[derive(Default)]
pub struct Reply {
    pub code: u16,
    pub addresses: Vec<Ipv4Addr>,
    pub ttl_seconds: u32,
    /// Text of the extended error "Blocked".
    pub blocked: Option<String>,
}

impl Reply {
    pub fn code(code: u16) -> Reply {
        Reply {
            code,
            ..Reply::default()
        }
    }

    /// For a query that could not be read: a header alone.
    pub fn header(id: u16, code: u16) -> Vec<u8> {
        fields(&[id, IS_RESPONSE | HAS_RECURSION | code, 0, 0, 0, 0])
    }

    /// An answer that is too large for the client is truncated over UDP; the client asks again over TCP.
    pub fn write(&self, query: &Query, is_udp: bool) -> Vec<u8> {
        let whole = self.encode(query, &self.addresses, 0);
        let most = query.udp_bytes.map_or(SMALLEST_UDP, |bytes| {
            usize::from(bytes).clamp(SMALLEST_UDP, LARGEST_UDP)
        });
        if is_udp && whole.len() > most {
            return Reply::code(self.code).encode(query, &[], IS_CUT);
        }
        whole
    }

    fn encode(&self, query: &Query, addresses: &[Ipv4Addr], flags: u16) -> Vec<u8> {
        let flags = IS_RESPONSE | HAS_RECURSION | WANTS_RECURSION | self.code | flags;
        let has_options = u16::from(query.udp_bytes.is_some());
        let mut message = fields(&[query.id, flags, 1, addresses.len() as u16, 0, has_options]);
        message.extend_from_slice(&query.question);
        for address in addresses {
            message.extend(fields(&[ASKED_NAME, A, INTERNET]));
            message.extend(self.ttl_seconds.to_be_bytes());
            message.extend(fields(&[4]));
            message.extend(address.octets());
        }
        if has_options == 1 {
            let options = self
                .blocked
                .as_deref()
                .map(extended_error)
                .unwrap_or_default();
            message.push(0);
            message.extend(fields(&[
                OPT,
                LARGEST_UDP as u16,
                0,
                0,
                options.len() as u16,
            ]));
            message.extend(options);
        }
        message
    }
}

fn extended_error(text: &str) -> Vec<u8> {
    let text = &text.as_bytes()[..text.len().min(LONGEST_TEXT)];
    let mut option = fields(&[EXTENDED_ERROR, text.len() as u16 + 2, BLOCKED]);
    option.extend_from_slice(text);
    option
}

fn fields(values: &[u16]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(udp_bytes: Option<u16>) -> Query {
        let question = b"\x01a\x00\x00\x01\x00\x01".to_vec();
        Query {
            id: 0x0102,
            name: Some("a".into()),
            kind: A,
            question,
            udp_bytes,
        }
    }

    #[test]
    fn addresses_have_the_asked_name() {
        let reply = Reply {
            addresses: vec![Ipv4Addr::new(1, 2, 3, 4)],
            ttl_seconds: 60,
            ..Reply::default()
        };
        let expected = b"\x01\x02\x81\x80\0\x01\0\x01\0\0\0\0\x01a\0\0\x01\0\x01\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\x01\x02\x03\x04";
        assert_eq!(reply.write(&query(None), true), expected);
    }

    #[test]
    fn a_refusal_has_its_reason_for_those_with_edns() {
        let reply = Reply {
            code: code::NO_SUCH_NAME,
            blocked: Some("why".into()),
            ..Reply::default()
        };
        let plain = reply.write(&query(None), true);
        assert_eq!(
            plain,
            b"\x01\x02\x81\x83\0\x01\0\0\0\0\0\0\x01a\0\0\x01\0\x01"
        );
        let extended = reply.write(&query(Some(1232)), true);
        assert_eq!(
            &extended[19..],
            b"\0\0\x29\x04\xd0\0\0\0\0\0\x09\0\x0f\0\x05\0\x0fwhy"
        );
        assert_eq!(extended[11], 1);
    }

    #[test]
    fn what_is_too_large_for_udp_is_cut_and_whole_over_tcp() {
        let reply = Reply {
            addresses: vec![Ipv4Addr::new(1, 2, 3, 4); 32],
            ..Reply::default()
        };
        let cut = reply.write(&query(None), true);
        assert_eq!((cut.len(), cut[2] & 2, cut[7]), (19, 2, 0));
        assert_eq!(reply.write(&query(None), false)[7], 32);
        assert_eq!(reply.write(&query(Some(1232)), true)[7], 32);
    }
}
