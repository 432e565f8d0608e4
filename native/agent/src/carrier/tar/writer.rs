//! Writes the entries of an archive, one after the other. The content of a file follows its entry.

use std::io::Write;

use super::block::{BLOCK, Block};
use super::entry::{Entry, Kind};
use super::holes::{held_bytes, is_sparse, map_of};
use super::records::{append, escaped};
use crate::carrier::faults::too_many_attributes;
use crate::wire::fault::Fault;

/// Most bytes of one extended header; the reader refuses longer ones.
pub const MOST_RECORD_BYTES: usize = 16 << 20;

pub struct Writer<W> {
    out: W,
    /// Bytes that still pad the content of the last entry.
    padding: usize,
}

impl<W: Write> Writer<W> {
    pub fn new(out: W) -> Self {
        Self { out, padding: 0 }
    }

    /// Begins an entry; the parts of a file's content have to follow, in order.
    pub fn entry(&mut self, entry: &Entry) -> Result<(), Fault> {
        self.pad()?;
        let (kind, map, length) = form_of(&entry.kind);
        let records = records_of(entry, length);
        if records.len() > MOST_RECORD_BYTES {
            return Err(too_many_attributes(&entry.path));
        }
        self.block(&Block::new(
            b'x',
            b"attributes",
            0o644,
            records.len() as u64,
        ))?;
        self.out.write_all(&records)?;
        self.padding = padding_of(records.len() as u64);
        self.pad()?;
        let shown = if entry.path.is_empty() {
            b"."
        } else {
            &entry.path[..]
        };
        self.block(&Block::new(kind, shown, entry.attributes.mode, length))?;
        self.out.write_all(&map)?;
        self.padding = padding_of(length);
        Ok(())
    }

    pub fn content(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        Ok(self.out.write_all(bytes)?)
    }

    /// Two blocks of zeros.
    pub fn finish(&mut self) -> Result<(), Fault> {
        self.pad()?;
        Ok(self.out.write_all(&[0; 2 * BLOCK])?)
    }

    fn block(&mut self, block: &Block) -> Result<(), Fault> {
        Ok(self.out.write_all(&block.0)?)
    }

    fn pad(&mut self) -> Result<(), Fault> {
        let padding = std::mem::take(&mut self.padding);
        Ok(self.out.write_all(&[0; BLOCK][..padding])?)
    }
}

pub fn padding_of(length: u64) -> usize {
    (length.next_multiple_of(BLOCK as u64) - length) as usize
}

/// The letter of the kind, the map of holes, and the length of the content with it.
fn form_of(kind: &Kind) -> (u8, Vec<u8>, u64) {
    match kind {
        Kind::File { size, parts } => {
            let map = match is_sparse(*size, parts) {
                true => map_of(parts, *size),
                false => Vec::new(),
            };
            let length = map.len() as u64 + held_bytes(parts);
            (b'0', map, length)
        }
        Kind::Link(_) => (b'1', Vec::new(), 0),
        Kind::Symlink(_) => (b'2', Vec::new(), 0),
        Kind::Whiteout => (b'3', Vec::new(), 0),
        Kind::Folder => (b'5', Vec::new(), 0),
        Kind::Fifo => (b'6', Vec::new(), 0),
    }
}

fn records_of(entry: &Entry, length: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let path = match (&entry.kind, &entry.path[..]) {
        (_, b"") => b"./".to_vec(),
        (Kind::Folder, path) => [path, b"/"].concat(),
        (_, path) => path.to_vec(),
    };
    let mut say = |key: &[u8], value: &[u8]| append(&mut out, key, value);
    let number = |value: u64| value.to_string().into_bytes();
    say(b"path", &path);
    match &entry.kind {
        Kind::Link(target) | Kind::Symlink(target) => say(b"linkpath", target),
        Kind::File { size, parts } => {
            say(b"size", &number(length));
            if is_sparse(*size, parts) {
                say(b"GNU.sparse.major", b"1");
                say(b"GNU.sparse.minor", b"0");
                say(b"GNU.sparse.name", &path);
                say(b"GNU.sparse.realsize", &number(*size));
            }
        }
        _ => {}
    }
    let attributes = &entry.attributes;
    say(b"uid", &number(attributes.uid.into()));
    say(b"gid", &number(attributes.gid.into()));
    say(b"mtime", time_of(attributes.modified).as_bytes());
    for (name, value) in &attributes.xattrs {
        say(&[b"SCHILY.xattr.", &escaped(name)[..]].concat(), value);
    }
    out
}

/// A time before the epoch is written as the decimal number that it is: −0.25 for second −1 and 750 million nanoseconds.
fn time_of((seconds, nanos): (i64, u32)) -> String {
    if seconds >= 0 || nanos == 0 {
        return format!("{seconds}.{nanos:09}");
    }
    let whole = (seconds + 1).unsigned_abs();
    format!("-{whole}.{:09}", 1_000_000_000 - nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_decimal_numbers() {
        assert_eq!(time_of((5, 42)), "5.000000042");
        assert_eq!(time_of((-1, 750_000_000)), "-0.250000000");
        assert_eq!(time_of((-2, 0)), "-2.000000000");
    }
}
