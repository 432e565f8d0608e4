//! Host and port, as a Host field or an absolute target has them.

use crate::policy::parse_name;
use std::net::Ipv4Addr;

const DEFAULT_PORT: u16 = 80;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority {
    host: Host,
    /// The stated port; None is the default one.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    Name(String),
    Address(Ipv4Addr),
}

impl Authority {
    pub fn parse(bytes: &[u8]) -> Option<Authority> {
        let (host, port) = match bytes.iter().position(|&byte| byte == b':') {
            Some(at) => (&bytes[..at], Some(parse_port(&bytes[at + 1..])?)),
            None => (bytes, None),
        };
        let address = std::str::from_utf8(host).ok()?.parse().ok();
        let host = match address {
            Some(address) => Host::Address(address),
            None => Host::Name(parse_name(host)?),
        };
        Some(Authority { host, port })
    }

    /// None where it is an address.
    pub fn name(&self) -> Option<&str> {
        match &self.host {
            Host::Name(name) => Some(name),
            Host::Address(_) => None,
        }
    }

    pub fn stated_port(&self) -> Option<u16> {
        self.port
    }

    pub fn means_the_same_as(&self, other: &Authority) -> bool {
        let port = |authority: &Authority| authority.port.unwrap_or(DEFAULT_PORT);
        self.host == other.host && port(self) == port(other)
    }
}

fn parse_port(digits: &[u8]) -> Option<u16> {
    let is_plain = (1..=5).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    let port = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (is_plain && port > 0).then_some(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_an_address_may_have_a_port() {
        let plain = Authority::parse(b"API.example.com").unwrap();
        assert_eq!(
            (plain.name(), plain.stated_port()),
            (Some("api.example.com"), None)
        );
        let with_port = Authority::parse(b"api.example.com:80").unwrap();
        assert!(plain.means_the_same_as(&with_port));
        assert!(!plain.means_the_same_as(&Authority::parse(b"api.example.com:81").unwrap()));
        assert!(!plain.means_the_same_as(&Authority::parse(b"203.0.113.1").unwrap()));
        assert_eq!(Authority::parse(b"203.0.113.1:8080").unwrap().name(), None);
    }

    #[test]
    fn tricks_are_no_authority() {
        let tricks: [&[u8]; 16] = [
            b"",
            b":80",
            b"a:",
            b"a:0",
            b"a:+80",
            b"a:80:80",
            b"a:65536",
            b"a:000080",
            b"a b",
            b"a,b",
            b"u@a",
            b"a/b",
            b"[::1]",
            b"a.",
            b"a:80 ",
            b"a\\b",
        ];
        for text in tricks {
            assert_eq!(
                Authority::parse(text),
                None,
                "{:?}",
                text.escape_ascii().to_string()
            );
        }
    }
}
