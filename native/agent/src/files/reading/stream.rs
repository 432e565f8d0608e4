//! The operation `read_stream`: a range of a file's bytes, as a stream.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::regular::{io_fault, open_regular, too_large};
use crate::files::location::Path;
use crate::files::reach::names_a_file_of_the_kernel;
use crate::init::context::Context;
use crate::wire::connection::{Connection, Interrupted, Outcome};
use crate::wire::fault::{Code, Fault};
use crate::wire::frame::DATA_CHUNK_BYTES;

/// A file that states at most this size is read to find its real size: files of /proc state 0, those of /sys a page.
const DISTRUSTED_BYTES: u64 = 64 << 10;

/// The whole file without `start` and `end`. A range past the file's end is cut there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    path: String,
    start: Option<u64>,
    /// Inclusive.
    end: Option<u64>,
    /// Most bytes of a file that the kernel generates on reading.
    max_unsized_bytes: u64,
}

#[derive(Serialize)]
struct StreamReply {
    size: u64,
    bytes: u64,
}

pub fn may_show_figures(request: &Request) -> bool {
    names_a_file_of_the_kernel(&request.path)
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let path = Path::parse("path", &request.path, &context.base)?;
    let named = path.clone();
    let work = context.workers.short(move || {
        let file = open_regular(&path)?;
        let size = file.metadata()?.len();
        if size > DISTRUSTED_BYTES {
            return Ok((Source::File(Arc::new(file)), size));
        }
        let content = read_all(file, &path, request.max_unsized_bytes)?;
        let size = content.len() as u64;
        Ok((Source::Memory(content), size))
    });
    let (source, size) = connection.unless_closed(work).await?;
    let start = request.start.unwrap_or(0).min(size);
    let end = request
        .end
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
