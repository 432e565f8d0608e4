//! Files with holes: the parts that an archive holds, in GNU tar's four formats.

use crate::failure::{Failure, unusable};
use crate::header::{BLOCK, number, size};
use crate::pax::decimal;

/// A part of a file that is not a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub offset: u64,
    pub length: u64,
}

pub struct Map {
    pub parts: Vec<Part>,
    /// Size of the file, holes included.
    pub size: u64,
}

const MOST_PARTS: usize = 1_000_000;

impl Map {
    pub fn new(parts: Vec<Part>, size: u64) -> Map {
        Map { parts, size }
    }

    pub fn add(&mut self, offset: u64, length: u64) -> Result<(), Failure> {
        if self.parts.len() >= MOST_PARTS {
            return Err(damaged());
        }
        if length > 0 {
            self.parts.push(Part { offset, length });
        }
        Ok(())
    }

    /// Checks that the parts are in order, apart from each other, inside the file, and as long together as
    /// the data in the archive.
    pub fn check(&self, held: u64) -> Result<(), Failure> {
        let mut end = 0;
        let mut sum = 0;
        for part in &self.parts {
            if part.offset < end {
                return Err(damaged());
            }
            end = part.offset.checked_add(part.length).ok_or_else(damaged)?;
            sum += part.length;
        }
        if end > self.size || sum != held {
            return Err(damaged());
        }
        Ok(())
    }
}

/// The entries of an old GNU header (four) or of a block that extends it (21), and whether another block follows.
pub fn old_entries(map: &mut Map, block: &[u8; BLOCK], first: bool) -> Result<bool, Failure> {
    let (table, extended) = if first {
        (&block[386..482], block[482])
    } else {
        (&block[..504], block[504])
    };
    for entry in table.chunks_exact(24) {
        if entry[0] == 0 {
            break;
        }
        map.add(size(number(&entry[..12])?)?, size(number(&entry[12..])?)?)?;
    }
    Ok(extended == 1)
}

/// A sparse file as its extended header describes it.
pub struct Described {
    pub name: Option<Vec<u8>>,
    pub map: Map,
    /// The list of parts precedes the data, as lines of digits.
    pub map_in_data: bool,
}

/// None when the file is not sparse.
pub fn described(records: &[(Vec<u8>, Vec<u8>)]) -> Result<Option<Described>, Failure> {
    if records.is_empty() {
        return Ok(None);
    }
    let mut found = Described {
        name: None,
        map: Map::new(Vec::new(), 0),
        map_in_data: false,
    };
    let mut offset = None;
    for (key, value) in records {
        match key.as_slice() {
            b"name" => found.name = Some(value.clone()),
            b"size" | b"realsize" => found.map.size = decimal(value)?,
            b"major" => found.map_in_data = decimal(value)? == 1,
            b"offset" => offset = Some(decimal(value)?),
            b"numbytes" => found
                .map
                .add(offset.take().ok_or_else(damaged)?, decimal(value)?)?,
            b"map" => {
                let numbers: Vec<&[u8]> = value.split(|&byte| byte == b',').collect();
                if !numbers.len().is_multiple_of(2) {
                    return Err(damaged());
                }
                for pair in numbers.chunks_exact(2) {
                    found.map.add(decimal(pair[0])?, decimal(pair[1])?)?;
                }
            }
            _ => {}
        }
    }
    Ok(Some(found))
}

/// Reads lines of digits: the number of parts, then offset and length of each. Reads whole blocks, and
/// returns their number of bytes.
pub fn read_lines(
    map: &mut Map,
    mut block: impl FnMut() -> Result<[u8; BLOCK], Failure>,
) -> Result<u64, Failure> {
    let mut read = 0;
    let mut current: Vec<u8> = Vec::new();
    let mut numbers = Vec::new();
    let mut wanted = None;
    loop {
        let bytes = block()?;
        read += BLOCK as u64;
        for &byte in &bytes {
            if byte != b'\n' {
                current.push(byte);
                if current.len() > 20 {
                    return Err(damaged());
                }
                continue;
            }
            let value = decimal(&current)?;
            current.clear();
            let Some(parts) = wanted else {
                if value > MOST_PARTS as u64 {
                    return Err(damaged());
                }
                wanted = Some(value as usize);
                if value == 0 {
                    return Ok(read);
                }
                continue;
            };
            numbers.push(value);
            if numbers.len() == 2 * parts {
                for pair in numbers.chunks_exact(2) {
                    map.add(pair[0], pair[1])?;
                }
                return Ok(read);
            }
        }
    }
}

fn damaged() -> Failure {
    unusable("a layer is damaged: the map of a file with holes cannot be understood")
}
