//! One rule about devices, in the syntax of v1.

use crate::failure::{Failure, usage};
use std::ffi::OsStr;

/// Devices that a machine may use.
pub struct Rule {
    pub kind: Kind,
    pub major: u32,
    /// None stands for all devices of that major number.
    pub minor: Option<u32>,
    /// Bits of the allowed access, in the kernel's numbering.
    pub access: u32,
}

/// Kind of a device, with the kernel's number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Block = 1,
    Character = 2,
}

const MAKE: u32 = 1;
const READ: u32 = 2;
const WRITE: u32 = 4;
pub const ALL_ACCESS: u32 = MAKE | READ | WRITE;

/// Widths of the kernel's device numbers.
const MAJOR_BITS: u32 = 12;
const MINOR_BITS: u32 = 20;

impl Rule {
    /// Parses the form of `devices.allow` of v1: `c 136:* rw`.
    pub fn parse(text: &OsStr) -> Result<Self, Failure> {
        text.to_str().and_then(parse).ok_or_else(|| {
            usage(&format!(
                "--device-rule {} is not understood",
                text.display()
            ))
        })
    }
}

/// None for anything else. v1 would also take a rule for all devices.
pub fn parse(text: &str) -> Option<Rule> {
    let mut words = text.split(' ');
    let [kind, numbers, access] = [words.next()?, words.next()?, words.next()?];
    let (major, minor) = numbers.split_once(':')?;
    if words.next().is_some() {
        return None;
    }
    Some(Rule {
        kind: match kind {
            "b" => Kind::Block,
            "c" => Kind::Character,
            _ => return None,
        },
        major: number(major, MAJOR_BITS)?,
        minor: match minor {
            "*" => None,
            minor => Some(number(minor, MINOR_BITS)?),
        },
        access: access_of(access)?,
    })
}

fn number(text: &str, bits: u32) -> Option<u32> {
    text.parse().ok().filter(|number| number >> bits == 0)
}

fn access_of(letters: &str) -> Option<u32> {
    let bits = letters.chars().map(|letter| match letter {
        'm' => Some(MAKE),
        'r' => Some(READ),
        'w' => Some(WRITE),
        _ => None,
    });
    bits.sum::<Option<u32>>()
        .filter(|&sum| sum.count_ones() as usize == letters.len() && sum > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_a_kind_two_numbers_and_ways_of_access() {
        let rule = parse("c 136:* rw").expect("a rule");
        assert_eq!((rule.kind, rule.major), (Kind::Character, 136));
        assert_eq!((rule.minor, rule.access), (None, 6));
        let rule = parse("b 4095:1048575 m").expect("a rule");
        assert_eq!((rule.kind, rule.major), (Kind::Block, 4095));
        assert_eq!((rule.minor, rule.access), (Some(1_048_575), 1));
        for wrong in [
            "",
            "a",
            "c 1:3",
            "c 1:3 ",
            "c 1:3 x",
            "c 1:3 rr",
            "c 1:3 mmr",
            "c 1:3 rw ",
            "p 1:3 rw",
            "c *:3 rw",
            "c 1 rw",
            "c -1:3 rw",
            "c 4096:3 rw",
            "c 1:1048576 rw",
        ] {
            assert!(parse(wrong).is_none(), "{wrong}");
        }
    }
}
