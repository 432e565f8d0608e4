//! The operation `read`: a range of a file's lines. Joined, ranges are the exact bytes of the file.

use serde::{Deserialize, Serialize};
use std::io::Read;
use std::ops::Range;

use super::regular::{io_fault, open_regular, too_large};
use crate::files::location::Path;
use crate::files::reach::names_a_file_of_the_kernel;
use crate::init::context::Context;
use crate::init::workers::Cancelled;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;
use crate::wire::frame::DATA_CHUNK_BYTES;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    path: String,
    start_line: Option<u64>,
    end_line: Option<u64>,
    /// Most bytes of the selected part.
    max_bytes: u64,
}

#[derive(Serialize)]
struct LinesReply {
    size: u64,
    total_lines: u64,
    start_line: u64,
    end_line: u64,
    bytes: usize,
}

/// Lines from 1, both ends inclusive.
struct LineRange {
    start: u64,
    end: Option<u64>,
}

pub fn may_show_figures(request: &Request) -> bool {
    names_a_file_of_the_kernel(&request.path)
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let path = Path::parse("path", &request.path, &context.base)?;
    let max_bytes = request.max_bytes;
    let range = LineRange {
        start: request.start_line.unwrap_or(1),
        end: request.end_line,
    };
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

/// Returns the part of `chunk` that lies in the range. `line` is the number of the line at the beginning of
/// the chunk, and afterwards at its end.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::fault::Code;
    use proptest::prelude::*;

    fn select(content: &[u8], start: u64, end: Option<u64>) -> (LinesReply, Vec<u8>) {
        let path = Path::of_system("x").unwrap();
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
        let path = Path::of_system("x").unwrap();
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
