//! One header block of a tar archive: V7, ustar and GNU.

use crate::failure::{Failure, unusable};

pub const BLOCK: usize = 512;

pub struct Header(pub [u8; BLOCK]);

impl Header {
    /// Fails on a block that is not a header.
    pub fn check(&self) -> Result<(), Failure> {
        let stated = number(&self.0[148..156])?;
        let sum = |value: fn(u8) -> i64| -> i64 {
            let blank = |at: usize| (148..156).contains(&at);
            let bytes = self.0.iter().enumerate();
            bytes
                .map(|(at, &byte)| if blank(at) { 32 } else { value(byte) })
                .sum()
        };
        // Some old programs summed bytes as signed.
        if sum(i64::from) == stated || sum(|byte| i64::from(byte as i8)) == stated {
            return Ok(());
        }
        Err(unusable("a layer is not a tar archive, or is damaged"))
    }

    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|&byte| byte == 0)
    }

    pub fn kind(&self) -> u8 {
        self.0[156]
    }

    pub fn name(&self) -> Vec<u8> {
        let name = text(&self.0[..100]);
        let prefix = text(&self.0[345..500]);
        if &self.0[257..263] != b"ustar\0" || prefix.is_empty() {
            return name.to_vec();
        }
        [prefix, b"/", name].concat()
    }

    pub fn link(&self) -> Vec<u8> {
        text(&self.0[157..257]).to_vec()
    }

    pub fn mode(&self) -> Result<u32, Failure> {
        Ok((number(&self.0[100..108])? & 0o7777) as u32)
    }

    /// Maps an invalid id to one that no sandbox has.
    pub fn uid(&self) -> Result<u64, Failure> {
        Ok(u64::try_from(number(&self.0[108..116])?).unwrap_or(u64::MAX))
    }

    pub fn gid(&self) -> Result<u64, Failure> {
        Ok(u64::try_from(number(&self.0[116..124])?).unwrap_or(u64::MAX))
    }

    pub fn size(&self) -> Result<u64, Failure> {
        size(number(&self.0[124..136])?)
    }

    pub fn seconds(&self) -> Result<i64, Failure> {
        number(&self.0[136..148])
    }
}

pub fn size(value: i64) -> Result<u64, Failure> {
    u64::try_from(value).map_err(|_| unusable("a layer holds a file of negative size"))
}

/// Up to the first NUL.
pub fn text(field: &[u8]) -> &[u8] {
    let end = field
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(field.len());
    &field[..end]
}

/// Octal, or binary when the first bit is set; blank is 0.
pub fn number(field: &[u8]) -> Result<i64, Failure> {
    if field[0] & 0x80 != 0 {
        return binary(field);
    }
    let digits = text(field).trim_ascii();
    let mut value: i64 = 0;
    for &digit in digits {
        if !(b'0'..=b'7').contains(&digit) {
            return Err(unusable(
                "a layer is damaged: a header holds an invalid number",
            ));
        }
        value = value * 8 + i64::from(digit - b'0');
    }
    Ok(value)
}

/// Two's complement, big-endian, without the first bit.
fn binary(field: &[u8]) -> Result<i64, Failure> {
    let negative = field[0] & 0x40 != 0;
    let mut value: i128 = if negative { -1 } else { 0 };
    for (at, &byte) in field.iter().enumerate() {
        let byte = match (at, negative) {
            (0, false) => byte & 0x3f,
            (0, true) => byte | 0x80,
            _ => byte,
        };
        value = (value << 8) | i128::from(byte);
    }
    i64::try_from(value)
        .map_err(|_| unusable("a layer is damaged: a header holds a number over all bounds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_as_every_program_writes_them() {
        assert_eq!(number(b"0000644\0").unwrap(), 0o644);
        assert_eq!(number(b"   644 \0").unwrap(), 0o644);
        assert_eq!(number(b"\0\0\0\0\0\0\0\0").unwrap(), 0);
        assert_eq!(number(b"77777777777 ").unwrap(), 0o77777777777);
        assert_eq!(number(&[0x80, 0, 0, 0, 0, 0, 1, 0]).unwrap(), 256);
        assert_eq!(number(&[0xff; 12]).unwrap(), -1);
        assert!(number(b"12a4567\0").is_err());
        assert!(number(&[0xbf; 12]).is_err());
    }
}
