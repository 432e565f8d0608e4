//! Addresses that the resolver gave one sandbox, by name. They count while a client may still use them, and no longer.

use crate::bounds::{ADDRESSES_PER_NAME, NAMES, TTL_CEILING, TTL_FLOOR, TTL_GRACE};
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

#[derive(Default)]
pub struct Names(HashMap<String, Known>);

struct Known {
    /// Time at which the name was resolved last.
    at: Instant,
    /// Addresses with their expiry, sorted by it.
    addresses: Vec<(Ipv4Addr, Instant)>,
}

impl Names {
    /// The oldest name makes room for a new one, and so do the addresses of a name that expire first.
    pub fn remember(&mut self, name: &str, addresses: &[Ipv4Addr], ttl: Duration, now: Instant) {
        if !self.0.contains_key(name) && self.0.len() >= NAMES {
            let oldest = self
                .0
                .iter()
                .min_by_key(|(_, known)| known.at)
                .map(|(name, _)| name.clone());
            self.0.remove(&oldest.unwrap_or_default());
        }
        let end = now + ttl.clamp(TTL_FLOOR, TTL_CEILING) + TTL_GRACE;
        let fresh = Known {
            at: now,
            addresses: Vec::new(),
        };
        let known = self.0.entry(name.to_owned()).or_insert(fresh);
        known.at = now;
        let mut ends: HashMap<Ipv4Addr, Instant> = known.addresses.drain(..).collect();
        ends.retain(|_, end| *end > now);
        for &address in addresses {
            let known_end = ends.entry(address).or_insert(end);
            *known_end = end.max(*known_end);
        }
        known.addresses = ends.into_iter().collect();
        known.addresses.sort_by_key(|&(_, end)| end);
        let surplus = known.addresses.len().saturating_sub(ADDRESSES_PER_NAME);
        known.addresses.drain(..surplus);
    }

    /// True for a name that was resolved, however long ago, and was not displaced.
    pub fn knows(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn has(&self, name: &str, address: Ipv4Addr, now: Instant) -> bool {
        self.0
            .get(name)
            .is_some_and(|known| known.has(address, now))
    }

    /// Names that have this address.
    pub fn of(&self, address: Ipv4Addr, now: Instant) -> impl Iterator<Item = &str> {
        let known = self
            .0
            .iter()
            .filter(move |(_, known)| known.has(address, now));
        known.map(|(name, _)| name.as_str())
    }
}

impl Known {
    fn has(&self, address: Ipv4Addr, now: Instant) -> bool {
        self.addresses
            .iter()
            .any(|&(other, end)| other == address && now < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u32) -> Ipv4Addr {
        Ipv4Addr::from(0x0100_0000 + number)
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn an_address_counts_for_its_name_alone() {
        let (mut names, now) = (Names::default(), Instant::now());
        names.remember("a.example", &[address(1)], seconds(60), now);
        assert!(names.has("a.example", address(1), now));
        assert!(!names.has("a.example", address(2), now));
        assert!(!names.has("b.example", address(1), now));
        assert_eq!(names.of(address(1), now).collect::<Vec<_>>(), ["a.example"]);
        assert_eq!(names.of(address(2), now).count(), 0);
    }

    #[test]
    fn an_address_counts_for_its_ttl_and_a_minute_more() {
        for (ttl, lasts) in [
            (0, 120),
            (59, 120),
            (300, 360),
            (3600, 3660),
            (1_000_000, 3660),
        ] {
            let (mut names, now) = (Names::default(), Instant::now());
            names.remember("a.example", &[address(1)], seconds(ttl), now);
            assert!(
                names.has("a.example", address(1), now + seconds(lasts - 1)),
                "{ttl}"
            );
            assert!(
                !names.has("a.example", address(1), now + seconds(lasts)),
                "{ttl}"
            );
        }
    }

    #[test]
    fn answers_of_a_name_that_changes_count_side_by_side() {
        let (mut names, now) = (Names::default(), Instant::now());
        names.remember("a.example", &[address(1)], seconds(60), now);
        names.remember("a.example", &[address(2)], seconds(60), now + seconds(100));
        assert!(names.has("a.example", address(1), now + seconds(119)));
        assert!(names.has("a.example", address(2), now + seconds(219)));
        assert!(!names.has("a.example", address(1), now + seconds(120)));
    }

    #[test]
    fn a_shorter_ttl_does_not_shorten_an_earlier_one() {
        let (mut names, now) = (Names::default(), Instant::now());
        names.remember("a.example", &[address(1)], seconds(3600), now);
        names.remember("a.example", &[address(1)], seconds(60), now);
        assert!(names.has("a.example", address(1), now + seconds(3600)));
    }

    #[test]
    fn the_oldest_name_makes_room() {
        let (mut names, now) = (Names::default(), Instant::now());
        for number in 0..513u64 {
            names.remember(
                &format!("n{number}.example"),
                &[address(1)],
                seconds(60),
                now + seconds(number) / 100,
            );
        }
        assert_eq!(names.0.len(), 512);
        assert!(!names.has("n0.example", address(1), now));
        assert!(names.has("n1.example", address(1), now));
        assert!(names.has("n512.example", address(1), now));
    }

    #[test]
    fn a_name_has_32_addresses_the_latest() {
        let (mut names, now) = (Names::default(), Instant::now());
        for number in 0..40u32 {
            names.remember(
                "a.example",
                &[address(number)],
                seconds(60),
                now + Duration::from_millis(number.into()),
            );
        }
        assert_eq!(names.0["a.example"].addresses.len(), 32);
        assert!(!names.has("a.example", address(7), now));
        assert!(names.has("a.example", address(8), now));
    }
}
