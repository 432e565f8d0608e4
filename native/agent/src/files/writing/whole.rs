//! Small files of the system, read and written as wholes.

use std::io::Read;

use super::upload::{Target, Upload};
use crate::files::location::Path;
use crate::files::reading::regular::{io_fault, open_regular, too_large};
use crate::wire::fault::Fault;

const MAX_BYTES: u64 = 8 << 20;

/// Links are followed; only a regular file is read.
pub fn read(path: &str) -> Result<Vec<u8>, Fault> {
    read_up_to(path, MAX_BYTES)
}

pub fn read_up_to(path: &str, max_bytes: u64) -> Result<Vec<u8>, Fault> {
    let path = Path::of_system(path)?;
    let file = open_regular(&path)?;
    let size = file.metadata().map_err(|error| io_fault(&error, &path))?;
    let mut bytes = Vec::new();
    if size.len() <= max_bytes {
        file.take(max_bytes + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| io_fault(&error, &path))?;
    }
    if size.len().max(bytes.len() as u64) > max_bytes {
        return Err(too_large(&path, max_bytes));
    }
    Ok(bytes)
}

/// Writes a file completely or not at all, unless it has that content. An existing file keeps its owner, and its mode
/// where none is given.
pub fn write(
    path: &str,
    content: &[u8],
    create_parents: bool,
    mode: Option<u32>,
) -> Result<(), Fault> {
    if read(path).is_ok_and(|present| present == content) {
        return Ok(());
    }
    let target = Target {
        path: Path::of_system(path)?,
        create_parents,
        mode,
        durable: false,
        metadata: None,
        new_beneath: None,
    };
    Upload::begin(&target)?.end_with(content)?;
    Ok(())
}

/// Adds a line to a file that is there.
pub fn append_line(path: &str, line: &str) -> Result<(), Fault> {
    let mut content = read(path)?;
    if content.last().is_some_and(|last| *last != b'\n') {
        content.push(b'\n');
    }
    content.extend_from_slice(line.as_bytes());
    content.push(b'\n');
    write(path, &content, false, None)
}
