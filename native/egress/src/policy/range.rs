//! Ranges of IPv4 addresses.

use std::net::Ipv4Addr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    network: u32,
    mask: u32,
}

impl Range {
    /// `a.b.c.d/len` with the bits of the host zero.
    pub fn parse(text: &str) -> Option<Range> {
        let (address, length) = text.split_once('/')?;
        let network = u32::from(address.parse::<Ipv4Addr>().ok()?);
        let is_plain = length.bytes().all(|byte| byte.is_ascii_digit());
        let length: u32 = length
            .parse()
            .ok()
            .filter(|&length| is_plain && length <= 32)?;
        let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
        (network & !mask == 0).then_some(Range { network, mask })
    }

    pub fn contains(&self, address: Ipv4Addr) -> bool {
        u32::from(address) & self.mask == self.network
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(range: &str, address: &str) -> bool {
        Range::parse(range)
            .unwrap()
            .contains(address.parse().unwrap())
    }

    #[test]
    fn a_range_has_its_first_and_last_address_and_no_neighbour() {
        assert!(contains("203.0.113.0/24", "203.0.113.0"));
        assert!(contains("203.0.113.0/24", "203.0.113.255"));
        assert!(!contains("203.0.113.0/24", "203.0.112.255"));
        assert!(!contains("203.0.113.0/24", "203.0.114.0"));
        assert!(contains("203.0.113.7/32", "203.0.113.7"));
        assert!(!contains("203.0.113.7/32", "203.0.113.6"));
        assert!(contains("0.0.0.0/0", "255.255.255.255"));
    }

    #[test]
    fn what_is_no_canonical_range_is_refused() {
        let wrong = [
            "",
            "1.2.3.4",
            "1.2.3.4/33",
            "1.2.3.4/+8",
            "1.2.3.4/24",
            "1.2.3/24",
            "a/8",
        ];
        for text in wrong {
            assert_eq!(Range::parse(text), None, "{text}");
        }
    }
}
