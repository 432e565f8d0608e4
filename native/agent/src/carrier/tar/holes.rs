//! Files with holes. An archive has a map of the parts with data, then their content (GNU tar's sparse form 1.0).

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use std::fs::File;

use super::block::BLOCK;
use super::damage::damaged;
use crate::wire::fault::Fault;

/// A part of a file that is not a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub offset: u64,
    pub length: u64,
}

/// Most parts in one map. In a file with more, the smallest holes are filled with zeros.
pub const MOST_PARTS: usize = 65_536;

/// A number and its newline.
const LINE_BYTES: usize = 21;

/// Returns the parts, and the bytes of data before any hole was filled.
pub fn parts_of(file: &File, size: u64) -> Result<(Vec<Part>, u64), Errno> {
    let mut parts = Vec::new();
    let mut data_bytes = 0;
    let mut fill = 4096;
    let mut at = 0;
    while at < size {
        let start = match seek(file, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(Errno::NXIO) => break,
            Err(errno) => return Err(errno),
        };
        let end = seek(file, SeekFrom::Hole(start))?;
        let end = end.min(size);
        if start >= end {
            break;
        }
        parts.push(Part {
            offset: start,
            length: end - start,
        });
        data_bytes += end - start;
        while parts.len() > MOST_PARTS {
            fill *= 2;
            fill_holes(&mut parts, fill);
        }
        at = end;
    }
    Ok((parts, data_bytes))
}

/// Joins parts that are less than `bytes` apart.
fn fill_holes(parts: &mut Vec<Part>, bytes: u64) {
    parts.dedup_by(|next, part| {
        let near = next.offset - (part.offset + part.length) < bytes;
        if near {
            part.length = next.offset + next.length - part.offset;
        }
        near
    });
}

/// False for a file without holes.
pub fn is_sparse(size: u64, parts: &[Part]) -> bool {
    let whole = Part {
        offset: 0,
        length: size,
    };
    parts != [whole] && size > 0
}

pub fn held_bytes(parts: &[Part]) -> u64 {
    parts.iter().map(|part| part.length).sum()
}

/// Lines of digits, padded to whole blocks: the number of parts, then offset and length of each. An empty
/// part follows a hole at the end of the file, without which GNU tar would not find that hole.
pub fn map_of(parts: &[Part], size: u64) -> Vec<u8> {
    let end = parts
        .last()
        .map_or(0, |part| part.offset.saturating_add(part.length));
    let last = Part {
        offset: size,
        length: 0,
    };
    let last = (end < size).then_some(&last);
    let mut map = format!("{}\n", parts.len() + usize::from(last.is_some()));
    for Part { offset, length } in parts.iter().chain(last) {
        map.push_str(&format!("{offset}\n{length}\n"));
    }
    let mut map = map.into_bytes();
    map.resize(map.len().next_multiple_of(BLOCK), 0);
    map
}

/// Reads a map, whose blocks `next` gives one after the other.
pub fn read_map(mut next: impl FnMut() -> Result<[u8; BLOCK], Fault>) -> Result<Vec<Part>, Fault> {
    let mut numbers = Vec::new();
    let mut line = Vec::new();
    let mut wanted = None;
    loop {
        for byte in next()? {
            if byte != b'\n' {
                line.push(byte);
                if line.len() >= LINE_BYTES {
                    return Err(damaged("the map of a file with holes"));
                }
                continue;
            }
            let number = number_of(&line)?;
            line.clear();
            match wanted {
                None if number > MOST_PARTS as u64 + 1 => return Err(damaged("too many holes")),
                None => wanted = Some(2 * number as usize),
                Some(_) => numbers.push(number),
            }
            if wanted == Some(numbers.len()) {
                let parts = numbers.chunks_exact(2);
                return Ok(parts
                    .map(|pair| Part {
                        offset: pair[0],
                        length: pair[1],
                    })
                    .filter(|part| part.length > 0)
                    .collect());
            }
        }
    }
}

/// Fails unless the parts are in order, apart from each other and inside the file.
pub fn check(parts: &[Part], size: u64) -> Result<(), Fault> {
    let mut end = 0;
    for part in parts {
        if part.offset < end || part.length == 0 {
            return Err(damaged("the parts of a file with holes overlap"));
        }
        end = part
            .offset
            .checked_add(part.length)
            .filter(|end| *end <= size)
            .ok_or_else(|| damaged("a part of a file lies past its end"))?;
    }
    Ok(())
}

pub fn number_of(text: &[u8]) -> Result<u64, Fault> {
    let text = str::from_utf8(text)
        .ok()
        .filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
    text.and_then(|text| text.parse().ok())
        .ok_or_else(|| damaged("a number"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(offset: u64, length: u64) -> Part {
        Part { offset, length }
    }

    fn read(map: &[u8]) -> Result<Vec<Part>, Fault> {
        let mut blocks = map.chunks_exact(BLOCK);
        read_map(|| {
            let block = blocks.next().ok_or_else(|| damaged("too short"))?;
            Ok(block.try_into().unwrap())
        })
    }

    #[test]
    fn small_holes_are_filled_first() {
        let mut parts = vec![part(0, 10), part(15, 5), part(5_000, 1)];
        fill_holes(&mut parts, 4_096);
        assert_eq!(parts, [part(0, 20), part(5_000, 1)]);
    }

    #[test]
    fn parts_that_overlap_or_lie_outside_are_refused() {
        assert!(check(&[part(0, 5), part(5, 5)], 10).is_ok());
        assert!(check(&[], 10).is_ok());
        for wrong in [
            vec![part(0, 11)],
            vec![part(5, 5), part(0, 5)],
            vec![part(0, 6), part(5, 5)],
            vec![part(3, 0)],
            vec![part(u64::MAX, 2)],
        ] {
            assert!(check(&wrong, 10).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_map_that_is_none_is_refused() {
        for text in [
            "x\n",
            "-1\n",
            "1\n5\n\n",
            "99999999999\n",
            "111111111111111111111\n",
        ] {
            let mut map = text.as_bytes().to_vec();
            map.resize(BLOCK, 0);
            assert!(read(&map).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_map_is_read_as_it_was_written(
            numbers in prop::collection::vec((any::<u64>(), 1u64..), 0..100),
            size in any::<u64>(),
        ) {
            let parts: Vec<_> = numbers.into_iter().map(|(at, length)| part(at, length)).collect();
            prop_assert_eq!(read(&map_of(&parts, size)).unwrap(), parts);
        }
    }
}
