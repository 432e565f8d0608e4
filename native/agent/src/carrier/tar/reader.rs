//! Reads the entries of an archive in order. Anybody may have written the bytes, so all fields are bounded,
//! and checked as far as that is possible without the disk.

use std::io::Read;

use super::block::{BLOCK, Block};
use super::damage::damaged;
use super::entry::{Attributes, Entry, Kind, Xattr};
use super::holes::{check, held_bytes, map_of, number_of, read_map};
use super::records::{each, unescaped};
use super::writer::{MOST_RECORD_BYTES, padding_of};
use crate::wire::fault::Fault;

pub struct Reader<R> {
    source: R,
    /// Bytes left of the current entry's content, and of the padding of its last block.
    content: u64,
    padding: usize,
}

/// Fields of an extended header, about the entry that follows it.
#[derive(Default)]
struct Said {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
    uid: Option<u32>,
    gid: Option<u32>,
    modified: Option<(i64, u32)>,
    xattrs: Vec<Xattr>,
    /// Size of a file with holes.
    real_size: Option<u64>,
}

impl<R: Read> Reader<R> {
    pub fn new(source: R) -> Self {
        Self {
            source,
            content: 0,
            padding: 0,
        }
    }

    /// Returns None at the end of the archive. A truncated archive has no end, and fails.
    pub fn next(&mut self) -> Result<Option<Entry>, Fault> {
        if self.content > 0 {
            return Err(damaged("a file has more content than it should"));
        }
        self.skip_padding()?;
        let block = self.block()?;
        if block.is_zero() {
            return match self.block()?.is_zero() {
                true => Ok(None),
                false => Err(damaged("its end is malformed")),
            };
        }
        block.check()?;
        if block.kind() != b'x' {
            return Err(damaged("an entry has no attributes"));
        }
        let said = self.said(block.length()?)?;
        let block = self.block()?;
        block.check()?;
        self.entry(&block, said).map(Some)
    }

    /// Fills the buffer with the next bytes of the current file's content.
    pub fn content(&mut self, buffer: &mut [u8]) -> Result<(), Fault> {
        self.content = (self.content)
            .checked_sub(buffer.len() as u64)
            .ok_or_else(|| damaged("a file has less content than it should"))?;
        self.fill(buffer)
    }

    fn entry(&mut self, block: &Block, said: Said) -> Result<Entry, Fault> {
        let missing = || damaged("an attribute is missing");
        let path = said.path.as_deref().ok_or_else(missing)?;
        let kind = match (block.kind(), said.link) {
            (b'0', None) => {
                let length = said.size.ok_or_else(missing)?;
                self.file(length, said.real_size)?
            }
            (b'1', Some(target)) => Kind::Link(target),
            (b'2', Some(target)) => Kind::Symlink(target),
            (b'3', None) => Kind::Whiteout,
            (b'5', None) => Kind::Folder,
            (b'6', None) => Kind::Fifo,
            _ => return Err(damaged("an entry is of no known kind")),
        };
        Ok(Entry {
            path: path_of(path, &kind)?,
            kind,
            attributes: Attributes {
                mode: block.mode()?,
                uid: said.uid.ok_or_else(missing)?,
                gid: said.gid.ok_or_else(missing)?,
                modified: said.modified.ok_or_else(missing)?,
                xattrs: said.xattrs,
            },
        })
    }

    fn file(&mut self, length: u64, real_size: Option<u64>) -> Result<Kind, Fault> {
        let too_short = || damaged("a file is shorter than its map");
        self.padding = padding_of(length);
        let Some(size) = real_size else {
            self.content = length;
            let whole = super::holes::Part { offset: 0, length };
            let parts = if length > 0 { vec![whole] } else { Vec::new() };
            return Ok(Kind::File {
                size: length,
                parts,
            });
        };
        let parts = read_map(|| Ok(self.block()?.0))?;
        check(&parts, size)?;
        let map = map_of(&parts, size).len() as u64;
        self.content = length.checked_sub(map).ok_or_else(too_short)?;
        if self.content != held_bytes(&parts) {
            return Err(too_short());
        }
        Ok(Kind::File { size, parts })
    }

    fn said(&mut self, length: u64) -> Result<Said, Fault> {
        if length > MOST_RECORD_BYTES as u64 {
            return Err(damaged("an extended header is too long"));
        }
        let mut records = vec![0; length as usize];
        self.fill(&mut records)?;
        self.padding = padding_of(length);
        self.skip_padding()?;
        let mut said = Said::default();
        each(&records, |key, value| said.take(key, value))?;
        Ok(said)
    }

    fn block(&mut self) -> Result<Block, Fault> {
        let mut block = [0; BLOCK];
        self.fill(&mut block)?;
        Ok(Block(block))
    }

    fn skip_padding(&mut self) -> Result<(), Fault> {
        let padding = std::mem::take(&mut self.padding);
        self.fill(&mut [0; BLOCK][..padding])
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Fault> {
        self.source
            .read_exact(buffer)
            .map_err(|_| damaged("it ends too early"))
    }
}

impl Said {
    fn take(&mut self, key: &[u8], value: &[u8]) -> Result<(), Fault> {
        let id = || {
            let id = u32::try_from(number_of(value)?);
            id.map_err(|_| damaged("an id is too large"))
        };
        match key {
            b"path" => self.path = Some(value.to_vec()),
            b"linkpath" => self.link = Some(value.to_vec()),
            b"size" => self.size = Some(number_of(value)?),
            b"uid" => self.uid = Some(id()?),
            b"gid" => self.gid = Some(id()?),
            b"mtime" => self.modified = Some(time_of(value)?),
            b"GNU.sparse.realsize" => self.real_size = Some(number_of(value)?),
            b"GNU.sparse.major" if value == b"1" => {}
            b"GNU.sparse.minor" if value == b"0" => {}
            b"GNU.sparse.name" => {}
            _ => {
                let name = key
                    .strip_prefix(b"SCHILY.xattr.")
                    .ok_or_else(|| damaged("an attribute is not known"))?;
                self.xattrs.push((unescaped(name)?, value.to_vec()));
            }
        }
        Ok(())
    }
}

/// Strips slashes at both ends. Fails on a path that is not plain.
fn path_of(path: &[u8], kind: &Kind) -> Result<Vec<u8>, Fault> {
    if *kind == Kind::Folder && path == b"./" {
        return Ok(Vec::new());
    }
    let path = match kind {
        Kind::Folder => path.strip_suffix(b"/"),
        _ => Some(path),
    };
    path.filter(|path| is_plain(path))
        .map(<[u8]>::to_vec)
        .ok_or_else(|| damaged("a path is none"))
}

/// True for a path of names alone, from the root down.
pub fn is_plain(path: &[u8]) -> bool {
    let name = |name: &[u8]| !matches!(name, b"" | b"." | b"..") && !name.contains(&0);
    path.split(|byte| *byte == b'/').all(name)
}

fn time_of(text: &[u8]) -> Result<(i64, u32), Fault> {
    let wrong = || damaged("a time");
    let text = str::from_utf8(text).map_err(|_| wrong())?;
    let (whole, fraction) = text.split_once('.').ok_or_else(wrong)?;
    let seconds: i64 = whole.parse().map_err(|_| wrong())?;
    if fraction.len() != 9 {
        return Err(wrong());
    }
    let nanos = number_of(fraction.as_bytes())? as u32;
    if whole.starts_with('-') && nanos > 0 {
        let seconds = seconds.checked_sub(1).ok_or_else(wrong)?;
        return Ok((seconds, 1_000_000_000 - nanos));
    }
    Ok((seconds, nanos))
}

#[cfg(test)]
mod tests {
    use super::super::holes::Part;
    use super::super::writer::Writer;
    use super::*;
    use proptest::prelude::*;

    fn attributes() -> impl Strategy<Value = Attributes> {
        let xattr = (prop::collection::vec(1u8.., 1..20), any::<Vec<u8>>());
        (
            0u32..=0o7777,
            any::<u32>(),
            any::<u32>(),
            (-(1i64 << 40)..1 << 40, 0u32..1_000_000_000),
            prop::collection::vec(xattr, 0..3),
        )
            .prop_map(|(mode, uid, gid, modified, xattrs)| Attributes {
                mode,
                uid,
                gid,
                modified,
                xattrs,
            })
    }

    fn path() -> impl Strategy<Value = Vec<u8>> {
        let name = prop::collection::vec(1u8.., 1..40);
        prop::collection::vec(name, 1..8)
            .prop_map(|names| names.join(&b'/'))
            .prop_filter("a path of names", |path| is_plain(path))
    }

    fn kind() -> impl Strategy<Value = Kind> {
        let target = prop::collection::vec(1u8.., 1..300);
        let parts = prop::collection::vec((1u64..50, 1u64..50), 0..6);
        prop_oneof![
            (parts, 0u64..50).prop_map(|(gaps, rest)| {
                let mut at = 0;
                let mut parts = Vec::new();
                for (gap, length) in gaps {
                    parts.push(Part {
                        offset: at + gap,
                        length,
                    });
                    at += gap + length;
                }
                Kind::File {
                    size: at + rest,
                    parts,
                }
            }),
            (1u64..2_000).prop_map(|length| Kind::File {
                size: length,
                parts: vec![Part { offset: 0, length }],
            }),
            path().prop_map(Kind::Link),
            target.prop_map(Kind::Symlink),
            Just(Kind::Folder),
            Just(Kind::Fifo),
            Just(Kind::Whiteout),
        ]
    }

    fn entries() -> impl Strategy<Value = Vec<Entry>> {
        let entry = (path(), kind(), attributes()).prop_map(|(path, kind, attributes)| Entry {
            path,
            kind,
            attributes,
        });
        prop::collection::vec(entry, 0..8)
    }

    fn length_of(entry: &Entry) -> usize {
        match &entry.kind {
            Kind::File { parts, .. } => held_bytes(parts) as usize,
            _ => 0,
        }
    }

    fn written(entries: &[Entry]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        for entry in entries {
            writer.entry(entry).unwrap();
            writer.content(&vec![7; length_of(entry)]).unwrap();
        }
        writer.finish().unwrap();
        out
    }

    fn read(bytes: &[u8]) -> Result<Vec<Entry>, Fault> {
        let mut reader = Reader::new(bytes);
        let mut entries = Vec::new();
        while let Some(entry) = reader.next()? {
            let mut content = vec![0; length_of(&entry)];
            reader.content(&mut content)?;
            assert!(content.iter().all(|byte| *byte == 7));
            entries.push(entry);
        }
        Ok(entries)
    }

    proptest! {
        #[test]
        fn entries_are_read_as_they_were_written(entries in entries()) {
            prop_assert_eq!(read(&written(&entries)).unwrap(), entries);
        }

        #[test]
        fn an_archive_that_is_cut_off_is_refused(entries in entries(), cut in 1usize..4_000) {
            let whole = written(&entries);
            let left = whole.len().saturating_sub(cut);
            prop_assert!(read(&whole[..left]).is_err());
        }

        #[test]
        fn no_bytes_break_the_reader(
            entries in entries(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        ) {
            let mut bytes = written(&entries);
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let mut reader = Reader::new(&bytes[..]);
            while let Ok(Some(entry)) = reader.next() {
                let mut left = length_of(&entry);
                while left > 0 {
                    let mut buffer = vec![0; left.min(4_096)];
                    if reader.content(&mut buffer).is_err() {
                        return Ok(());
                    }
                    left -= buffer.len();
                }
            }
        }
    }

    #[test]
    fn paths_that_lead_elsewhere_are_refused() {
        for path in ["", ".", "..", "/a", "a/", "a//b", "a/../b", "./a", "a\0"] {
            assert!(!is_plain(path.as_bytes()), "{path:?}");
        }
        assert!(is_plain(b"a/b...c/ "));
    }

    #[test]
    fn times_before_the_epoch_are_read() {
        assert_eq!(time_of(b"-0.250000000").unwrap(), (-1, 750_000_000));
        assert_eq!(time_of(b"-2.000000000").unwrap(), (-2, 0));
        assert!(time_of(b"5").is_err());
        assert!(time_of(b"5.1").is_err());
    }
}
