//! The operation `entries`: all that is known of an entry, or of the entries below a folder to a depth, sorted by path, a
//! page at a time. Links are not followed, but for the path itself with a depth.

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, fstat, readlinkat};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::os::fd::{AsFd, OwnedFd};

use super::metadata::{self, Metadata};
use crate::files::listing::find::open_below;
use crate::files::listing::list::not_a_folder;
use crate::files::listing::page::Page;
use crate::files::location::{Path, file_type, size};
use crate::files::{path_text, reach};
use crate::init::context::Context;
use crate::init::workers::Cancelled;
use crate::users::names::Names;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;

/// Most items of one page, whatever the host asks for; one whose texts are larger ends early.
const MAX_ITEMS: usize = 10_000;
const MAX_PAGE_BYTES: usize = 2 << 20;
const PLACE: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    path: String,
    /// 0: the path itself; 1: what is in the folder; 2: what is in its folders, too.
    depth: usize,
    max_items: usize,
    offset: usize,
}

#[derive(Serialize)]
struct Entry {
    /// Below the request's path; empty for that itself.
    path: String,
    #[serde(rename = "type")]
    kind: &'static str,
    size: u64,
    mode: u32,
    uid: u32,
    gid: u32,
    owner: String,
    group: String,
    modified_ms: i64,
    /// Of a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    metadata: Metadata,
}

impl Entry {
    /// Bytes of the texts whose length is the sandbox's choice.
    fn text_bytes(&self) -> usize {
        let metadata = self.metadata.iter();
        let of_metadata: usize = metadata.map(|(name, value)| name.len() + value.len()).sum();
        self.path.len() + self.target.as_ref().map_or(0, String::len) + of_metadata
    }
}

struct Listed {
    entries: Vec<Entry>,
    total: usize,
    /// Offset of the next page; None at the end.
    next: Option<usize>,
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let path = Path::parse("path", &request.path, &context.base)?;
    let work = context.workers.long(move |cancelled| match request.depth {
        0 => itself(&path),
        depth => {
            let most = request.max_items.min(MAX_ITEMS);
            below(&path, depth, (request.offset, most), cancelled)
        }
    });
    let Listed {
        entries,
        total,
        next,
    } = connection.unless_closed(work).await?;
    connection.items(&entries).await?;
    let reply = json!({ "total_count": total, "next_offset": next });
    connection.reply(&reply).await
}

fn itself(path: &Path) -> Result<Listed, Fault> {
    let file = reach::open(CWD, path.bytes.as_slice(), PLACE, Mode::empty())
        .map_err(|errno| path.fault(errno))?;
    let entry = describe(&file, String::new(), &mut Names::default());
    Ok(Listed {
        entries: vec![entry.map_err(|errno| path.fault(errno))?],
        total: 1,
        next: None,
    })
}

/// Folders that cannot be read are passed over, as are entries that have vanished.
fn below(
    path: &Path,
    depth: usize,
    (offset, most): (usize, usize),
    cancelled: &Cancelled,
) -> Result<Listed, Fault> {
    let mut page = Page::new(offset, most);
    let top = reach::open(CWD, path.bytes.as_slice(), FOLDER, Mode::empty())
        .map_err(|errno| not_a_folder(path, errno))?;
    // Folders yet to be read, by their path below the top, and how deep their entries are.
    let mut pending: Vec<(Vec<u8>, usize)> = vec![(Vec::new(), 1)];
    while let Some((folder, level)) = pending.pop() {
        cancelled.check()?;
        let Ok(entries) = open_below(&top, &folder, FOLDER | OFlags::NOFOLLOW).and_then(Dir::new)
        else {
            continue;
        };
        for entry in entries {
            let Ok(entry) = entry else { break };
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let child = match folder.is_empty() {
                true => name.to_vec(),
                false => [&folder, b"/".as_slice(), name].concat(),
            };
            page.offer(path_text::to_text(&child));
            if level < depth && matches!(entry.file_type(), FileType::Directory | FileType::Unknown)
            {
                pending.push((child, level + 1));
            }
        }
    }
    let (paths, total) = page.finish();
    let mut names = Names::default();
    let mut entries = Vec::with_capacity(paths.len());
    let (mut end, mut bytes) = (offset, 0);
    for path in paths {
        if bytes > MAX_PAGE_BYTES {
            break;
        }
        end += 1;
        cancelled.check()?;
        let place = open_below(&top, &path_text::to_bytes(&path), PLACE);
        if let Ok(entry) = place.and_then(|place| describe(&place, path, &mut names)) {
            bytes += entry.text_bytes();
            entries.push(entry);
        }
    }
    Ok(Listed {
        entries,
        total,
        next: (offset < end && end < total).then_some(end),
    })
}

fn describe(place: &OwnedFd, path: String, names: &mut Names) -> rustix::io::Result<Entry> {
    let stat = fstat(place)?;
    let kind = match file_type(&stat) {
        FileType::RegularFile => "file",
        FileType::Directory => "dir",
        FileType::Symlink => "symlink",
        _ => "other",
    };
    let target = match kind {
        "symlink" => Some(readlinkat(place.as_fd(), "", Vec::new())?),
        _ => None,
    };
    Ok(Entry {
        path,
        kind,
        size: size(&stat),
        mode: stat.st_mode & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        owner: names.users.name(stat.st_uid).to_owned(),
        group: names.groups.name(stat.st_gid).to_owned(),
        modified_ms: stat.st_mtime * 1000
            + i64::try_from(stat.st_mtime_nsec).unwrap_or(0) / 1_000_000,
        target: target.map(|target| path_text::to_text(target.as_bytes())),
        metadata: match kind {
            "file" | "dir" => metadata::of(place),
            _ => Metadata::new(),
        },
    })
}
