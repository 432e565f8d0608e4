//! The operation `list`: one level of a folder, sorted, a page at a time.

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, statat};
use serde::Serialize;
use serde_json::json;

use super::page::Page;
pub use super::query::Query as Request;
use crate::files::glob::Glob;
use crate::files::location::{Path, c_name, file_type, size};
use crate::files::{path_text, reach};
use crate::init::context::Context;
use crate::init::workers::Cancelled;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::{Code, Fault};

/// Entries between two checks that the host is still there.
const CHECK_EVERY: usize = 1_000;

#[derive(Serialize)]
struct Entry {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    size: u64,
    link: bool,
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let path = Path::parse("path", &request.path, &context.base)?;
    let pattern = request.pattern.as_deref();
    let pattern = pattern
        .map(|pattern| Glob::parse("pattern", pattern))
        .transpose()?;
    let page = request.page();
    let work = context
        .workers
        .long(move |cancelled| list(&path, pattern.as_ref(), page, cancelled));
    let (entries, total) = connection.unless_closed(work).await?;
    connection.items(&entries).await?;
    connection.reply(&json!({ "total_count": total })).await
}

/// Returns the entries of the page, and the number of all matches.
fn list(
    path: &Path,
    pattern: Option<&Glob>,
    mut page: Page,
    cancelled: &Cancelled,
) -> Result<(Vec<Entry>, usize), Fault> {
    let folder = reach::open(
        CWD,
        path.bytes.as_slice(),
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .map_err(|errno| not_a_folder(path, errno))?;
    for (index, entry) in Dir::read_from(&folder)
        .map_err(|errno| path.fault(errno))?
        .enumerate()
    {
        if index % CHECK_EVERY == 0 {
            cancelled.check()?;
        }
        let entry = entry.map_err(|errno| path.fault(errno))?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let text = path_text::to_text(name);
        if pattern.is_none_or(|pattern| pattern.matches(&text)) {
            page.offer(text);
        }
    }
    let (names, total) = page.finish();
    let entries = names
        .into_iter()
        .map(|name| describe(&folder, name))
        .collect::<Result<_, _>>()?;
    Ok((entries, total))
}

/// An entry that has vanished meanwhile is shown as an empty file, so that the page stays a slice of the list.
fn describe(folder: impl std::os::fd::AsFd, name: String) -> Result<Entry, Fault> {
    let raw = c_name(&path_text::to_bytes(&name))?;
    let stat = statat(folder, &raw, AtFlags::SYMLINK_NOFOLLOW).ok();
    let kind = stat.as_ref().map(file_type);
    Ok(Entry {
        name,
        kind: if kind == Some(FileType::Directory) {
            "dir"
        } else {
            "file"
        },
        size: stat.as_ref().map_or(0, size),
        link: kind == Some(FileType::Symlink),
    })
}

/// ENOTDIR: the path itself is a file, or a part of it is.
pub fn not_a_folder(path: &Path, errno: rustix::io::Errno) -> Fault {
    if errno == rustix::io::Errno::NOTDIR
        && statat(CWD, path.bytes.as_slice(), AtFlags::empty()).is_ok()
    {
        return Fault::new(
            Code::InvalidArgument,
            format!("'{}' is not a folder.", path.text),
        )
        .parameter(path.parameter)
        .hint("Look at it with Sandbox.GetFileInfo or Sandbox.ReadFile.");
    }
    path.fault(errno)
}
