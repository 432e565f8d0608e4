//! The block before the content of an entry. It counts only for what the extended header lacks: kind, mode
//! and length of the content.

use super::damage::damaged;
use crate::wire::fault::Fault;

pub const BLOCK: usize = 512;

/// Largest number of a field with eleven octal digits.
const MOST: u64 = 0o777_7777_7777;

pub struct Block(pub [u8; BLOCK]);

impl Block {
    /// @param length Length of the content; one that does not fit is in the extended header only.
    pub fn new(kind: u8, name: &[u8], mode: u32, length: u64) -> Self {
        let mut block = Self([0; BLOCK]);
        let shown = &name[..name.len().min(100)];
        block.0[..shown.len()].copy_from_slice(shown);
        block.octal(100..107, u64::from(mode));
        block.octal(108..115, 0);
        block.octal(116..123, 0);
        block.octal(124..135, if length > MOST { 0 } else { length });
        block.octal(136..147, 0);
        block.0[156] = kind;
        block.0[257..265].copy_from_slice(b"ustar\x0000");
        block.octal(329..336, 0);
        block.octal(337..344, 0);
        let sum = block.sum();
        block.octal(148..154, sum);
        block.0[154..156].copy_from_slice(b"\0 ");
        block
    }

    pub fn check(&self) -> Result<(), Fault> {
        if self.number(148..154)? == self.sum() && &self.0[257..265] == b"ustar\x0000" {
            return Ok(());
        }
        Err(damaged("a header is none"))
    }

    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|byte| *byte == 0)
    }

    pub fn kind(&self) -> u8 {
        self.0[156]
    }

    pub fn mode(&self) -> Result<u32, Fault> {
        Ok((self.number(100..107)? & 0o7777) as u32)
    }

    pub fn length(&self) -> Result<u64, Fault> {
        self.number(124..135)
    }

    fn octal(&mut self, field: std::ops::Range<usize>, value: u64) {
        let digits = field.len();
        let text = format!("{value:0digits$o}");
        self.0[field].copy_from_slice(text.as_bytes());
    }

    fn number(&self, field: std::ops::Range<usize>) -> Result<u64, Fault> {
        let digits = str::from_utf8(&self.0[field]).ok();
        digits
            .and_then(|digits| u64::from_str_radix(digits, 8).ok())
            .ok_or_else(|| damaged("a header holds an invalid number"))
    }

    /// The sum's own field counts as blanks.
    fn sum(&self) -> u64 {
        let bytes = self.0.iter().enumerate();
        bytes
            .map(|(at, byte)| match at {
                148..156 => 32,
                _ => u64::from(*byte),
            })
            .sum()
    }
}
