//! Reads regular files, never anything whose opening could block or have an effect.

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::location::{Path, file_type};
use crate::connection::{Connection, Interrupted, Outcome};
use crate::fault::{Code, Fault};
use crate::frame::DATA_CHUNK_BYTES;
use crate::server::Context;
use crate::workers::Cancelled;

/// A file of at most this size by its own account is read to see its real size: files of /proc say 0, those
/// of /sys a page.
const DISTRUSTED_BYTES: u64 = 64 << 10;

#[derive(Serialize)]
struct LinesReply {
    size: u64,
    total_lines: u64,
    start_line: u64,
    end_line: u64,
    bytes: usize,
}

#[derive(Serialize)]
struct StreamReply {
    size: u64,
    bytes: u64,
}

/// Lines from 1, both ends inclusive.
pub struct LineRange {
    pub start: u64,
    pub end: Option<u64>,
}

pub async fn lines(
    connection: &mut Connection,
    context: &Context,
    path: Path,
    range: LineRange,
    max_bytes: u64,
) -> Outcome {
    if range.start == 0 {
        return Err(Fault::invalid("start_line", "Lines are numbered from 1.").into());
    }
    if range.end.is_some_and(|end| end < range.start) {
        return Err(Fault::invalid("end_line", "end_line is before start_line.").into());
    }
    let work = context.workers.long(move |cancelled| {
        let mut file = open_regular(&path)?;
        select_lines(&mut file, &path, &range, max_bytes, cancelled)
    });
    let (reply, content) = connection.unless_closed(work).await?;
    connection.reply_with_data(&reply, &[&content]).await
}

/// Both ends inclusive; the whole file when absent. What lies past the end is not there.
pub async fn stream(
    connection: &mut Connection,
    context: &Context,
    path: Path,
    range: (Option<u64>, Option<u64>),
    max_unsized_bytes: u64,
) -> Outcome {
    let named = path.clone();
    let work = context.workers.short(move || {
        let file = open_regular(&path)?;
        let size = file.metadata()?.len();
        if size > DISTRUSTED_BYTES {
            return Ok((Source::File(Arc::new(file)), size));
        }
        let content = read_all(file, &path, max_unsized_bytes)?;
        let size = content.len() as u64;
        Ok((Source::Memory(content), size))
    });
    let (source, size) = connection.unless_closed(work).await?;
    let start = range.0.unwrap_or(0).min(size);
    let end = range
        .1
        .map_or(size, |end| end.saturating_add(1).min(size))
        .max(start);
    let reply = StreamReply {
        size,
        bytes: end - start,
    };
    match source {
        Source::Memory(content) => {
            connection
                .reply_with_data(&reply, &[&content[start as usize..end as usize]])
                .await
        }
        Source::File(file) => {
            connection.reply(&reply).await?;
            send_range(connection, context, &named, &file, start..end).await
        }
    }
}

enum Source {
    Memory(Vec<u8>),
    File(Arc<File>),
}

/// The next chunk is read while one is sent, into one of two buffers.
async fn send_range(
    connection: &mut Connection,
    context: &Context,
    path: &Path,
    file: &Arc<File>,
    range: Range<u64>,
) -> Outcome {
    let read = async |offset: u64, buffer: Vec<u8>| -> Result<Vec<u8>, Interrupted> {
        let file = Arc::clone(file);
        let length = (range.end - offset).min(DATA_CHUNK_BYTES as u64) as usize;
        let job = move || read_chunk(&file, offset, length, buffer);
        Ok(context.workers.short(job).await?)
    };
    let mut offset = range.start;
    let mut chunk = read(offset, Vec::new()).await?;
    let mut spare = Vec::new();
    while offset < range.end {
        if chunk.is_empty() {
            return Err(Interrupted::Fault(Fault::new(
                Code::FailedPrecondition,
                format!("'{}' became shorter while it was read.", path.text),
            )));
        }
        offset += chunk.len() as u64;
        let ((), next) = tokio::try_join!(connection.send_data(&chunk), read(offset, spare))?;
        spare = std::mem::replace(&mut chunk, next);
    }
    connection.send_end().await
}

/// Less than `length` only at the end of the file.
fn read_chunk(
    file: &File,
    offset: u64,
    length: usize,
    mut buffer: Vec<u8>,
) -> Result<Vec<u8>, Fault> {
    buffer.resize(length, 0);
    let mut filled = 0;
    while filled < length {
        match file.read_at(&mut buffer[filled..], offset + filled as u64)? {
            0 => break,
            read => filled += read,
        }
    }
    buffer.truncate(filled);
    Ok(buffer)
}

/// Links are followed.
fn open_regular(path: &Path) -> Result<File, Fault> {
    let check = |kind: FileType| match kind {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Fault::invalid(
            path.parameter,
            format!("'{}' is a folder.", path.text),
        )
        .hint("List it with Sandbox.ListFiles.")),
        _ => Err(Fault::invalid(
            path.parameter,
            format!("'{}' is not a regular file.", path.text),
        )),
    };
    // A look before the opening: a pipe's writer would notice that.
    let stat =
        statat(CWD, path.bytes.as_slice(), AtFlags::empty()).map_err(|errno| path.fault(errno))?;
    check(file_type(&stat))?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(CWD, path.bytes.as_slice(), flags, Mode::empty())
        .map_err(|errno| path.fault(errno))?;
    check(file_type(
        &rustix::fs::fstat(&file).map_err(|errno| path.fault(errno))?,
    ))?;
    Ok(File::from(file))
}

fn read_all(file: File, path: &Path, max_bytes: u64) -> Result<Vec<u8>, Fault> {
    let mut content = Vec::new();
    file.take(max_bytes.saturating_add(1))
        .read_to_end(&mut content)
        .map_err(|error| io_fault(&error, path))?;
    if content.len() as u64 > max_bytes {
        return Err(too_large(path, max_bytes));
    }
    Ok(content)
}

fn select_lines(
    file: &mut impl Read,
    path: &Path,
    range: &LineRange,
    max_bytes: u64,
    cancelled: &Cancelled,
) -> Result<(LinesReply, Vec<u8>), Fault> {
    let mut selected = Vec::new();
    let mut buffer = vec![0; DATA_CHUNK_BYTES];
    let mut size = 0u64;
    let mut line = 1;
    let mut last_byte = b'\n';
    loop {
        cancelled.check()?;
        let read = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(io_fault(&error, path)),
        };
        let chunk = &buffer[..read];
        let part = part_within(chunk, &mut line, range);
        if (selected.len() + part.len()) as u64 > max_bytes {
            return Err(too_large(path, max_bytes));
        }
        selected.extend_from_slice(&chunk[part]);
        size += read as u64;
        last_byte = chunk[read - 1];
    }
    let total_lines = if last_byte == b'\n' { line - 1 } else { line };
    let reply = LinesReply {
        size,
        total_lines,
        start_line: range.start,
        end_line: range.end.unwrap_or(total_lines).min(total_lines),
        bytes: selected.len(),
    };
    Ok((reply, selected))
}

/// The part of `chunk` that lies in the range; `line` is the number of the line that is open at its begin, and
/// then at its end.
fn part_within(chunk: &[u8], line: &mut u64, range: &LineRange) -> Range<usize> {
    let within = |line: u64| line >= range.start && range.end.is_none_or(|end| line <= end);
    let mut start = within(*line).then_some(0);
    let mut end = chunk.len();
    for newline in memchr::memchr_iter(b'\n', chunk) {
        *line += 1;
        if start.is_none() && *line == range.start {
            start = Some(newline + 1);
        }
        if range
            .end
            .is_some_and(|last| *line == last.saturating_add(1))
        {
            end = newline + 1;
        }
    }
    start.map_or(0..0, |start| start..end)
}

fn io_fault(error: &std::io::Error, path: &Path) -> Fault {
    match error.raw_os_error() {
        Some(raw) => path.fault(rustix::io::Errno::from_raw_os_error(raw)),
        None => Fault::new(Code::Internal, error.to_string()),
    }
}

fn too_large(path: &Path, max_bytes: u64) -> Fault {
    Fault::new(
        Code::TooLarge,
        format!("What was asked for of '{}' is over {max_bytes} bytes.", path.text),
    )
    .parameter(path.parameter)
    .hint("Read a range with start_line and end_line, or stream it: GET /v1/sandboxes/{sandbox}/files?path=…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn select(content: &[u8], start: u64, end: Option<u64>) -> (LinesReply, Vec<u8>) {
        let path = Path::parse("path", "x").unwrap();
        let range = LineRange { start, end };
        select_lines(
            &mut &content[..],
            &path,
            &range,
            1 << 20,
            &Cancelled::default(),
        )
        .unwrap()
    }

    #[test]
    fn lines_end_with_a_newline_and_the_last_need_not() {
        let counts = [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2)];
        for (content, lines) in counts {
            assert_eq!(select(content.as_bytes(), 1, None).0.total_lines, lines);
        }
        assert_eq!(select(b"a\nb\nc\n", 2, Some(2)).1, b"b\n");
        assert_eq!(select(b"a\nb\nc", 3, Some(9)).1, b"c");
        assert_eq!(select(b"a\nb\n", 3, None).1, b"");
    }

    #[test]
    fn a_selection_over_the_bound_is_refused() {
        let path = Path::parse("path", "x").unwrap();
        let range = LineRange {
            start: 1,
            end: None,
        };
        let refused = select_lines(
            &mut &[b'x'; 11][..],
            &path,
            &range,
            10,
            &Cancelled::default(),
        );
        assert_eq!(refused.err().unwrap().code, Code::TooLarge);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn joined_ranges_give_back_the_exact_bytes(
            content in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200),
            cut in 1u64..40,
        ) {
            let mut joined = select(&content, 1, Some(cut)).1;
            joined.extend(select(&content, cut + 1, None).1);
            prop_assert_eq!(joined, content);
        }

        #[test]
        fn where_chunks_are_cut_makes_no_difference(
            content in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'a')], 1..60),
            at in 0usize..60,
            start in 1u64..12,
            length in 0u64..12,
        ) {
            let at = at.min(content.len());
            let range = LineRange { start, end: Some(start + length) };
            let mut line = 1;
            let whole = content[part_within(&content, &mut line, &range)].to_vec();
            let (a, b) = content.split_at(at);
            let mut line = 1;
            let mut parts = a[part_within(a, &mut line, &range)].to_vec();
            parts.extend_from_slice(&b[part_within(b, &mut line, &range)]);
            prop_assert_eq!(parts, whole);
        }
    }
}
