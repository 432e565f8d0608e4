//! The operation `find`: files and folders below a folder whose names match, sorted by path, a page at a time. Links
//! are not followed.

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use serde_json::json;
use std::os::fd::OwnedFd;

use super::list::not_a_folder;
use super::page::Page;
pub use super::query::Query as Request;
use crate::files::glob::Glob;
use crate::files::location::{Path, file_type};
use crate::files::{path_text, reach};
use crate::init::context::Context;
use crate::init::workers::Cancelled;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;

/// A longer path could be used in no call.
const MAX_PATH_BYTES: usize = 4_095;
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let path = Path::parse("path", &request.path, &context.base)?;
    let pattern = Glob::parse("pattern", request.pattern.as_deref().unwrap_or("*"))?;
    let page = request.page();
    let work = context
        .workers
        .long(move |cancelled| find(&path, &pattern, page, cancelled));
    let (paths, total) = connection.unless_closed(work).await?;
    connection.items(&paths).await?;
    connection.reply(&json!({ "total_count": total })).await
}

/// Paths are relative to the sandbox root when inside it. Folders that cannot be read are passed over.
fn find(
    path: &Path,
    pattern: &Glob,
    mut page: Page,
    cancelled: &Cancelled,
) -> Result<(Vec<String>, usize), Fault> {
    let top = reach::open(
        CWD,
        path.bytes.as_slice(),
        FOLDER.difference(OFlags::NOFOLLOW),
        Mode::empty(),
    )
    .map_err(|errno| not_a_folder(path, errno))?;
    let shown = path.shown_prefix();
    // Folders yet to be read, by their path below the top.
    let mut pending: Vec<Vec<u8>> = vec![Vec::new()];
    while let Some(below) = pending.pop() {
        cancelled.check()?;
        let Ok(folder) = open_below(&top, &below, FOLDER) else {
            continue;
        };
        let Ok(entries) = Dir::new(folder) else {
            continue;
        };
        for entry in entries {
            let Ok(entry) = entry else { break };
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let child = join(&below, name);
            if shown.len() + child.len() > MAX_PATH_BYTES {
                continue;
            }
            let subject = if pattern.of_path { &child[..] } else { name };
            if pattern.matches(&path_text::to_text(subject)) {
                page.offer(path_text::to_text(&[&shown[..], &child].concat()));
            }
            if is_folder(&top, &child, entry.file_type()) {
                pending.push(child);
            }
        }
    }
    Ok(page.finish())
}

/// Opens what is at a path below an open folder, through no link.
pub fn open_below(top: &OwnedFd, below: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let below = if below.is_empty() { b"." } else { below };
    match openat2(top, below, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Kept from sandboxes by a strict filter, or by an old kernel.
        Err(Errno::NOSYS | Errno::PERM) => openat(top, below, flags, Mode::empty()),
        result => result,
    }
    .and_then(reach::unless_own)
}

fn is_folder(top: &OwnedFd, child: &[u8], known: FileType) -> bool {
    match known {
        FileType::Directory => true,
        FileType::Unknown => rustix::fs::statat(top, child, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| file_type(&stat) == FileType::Directory),
        _ => false,
    }
}

fn join(below: &[u8], name: &[u8]) -> Vec<u8> {
    if below.is_empty() {
        return name.to_vec();
    }
    [below, b"/", name].concat()
}
