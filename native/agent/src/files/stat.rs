//! The operation `stat`: describes one file. A final link is not followed.

use rustix::fs::{AtFlags, CWD, FileType, Stat, statat};
use serde::{Deserialize, Serialize};

use super::location::{Path, file_type, size};
use crate::init::context::Context;
use crate::users::database;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    path: String,
}

#[derive(Serialize)]
struct Metadata {
    #[serde(rename = "type")]
    kind: &'static str,
    size: u64,
    mode: u32,
    owner: String,
    group: String,
    modified_ms: i64,
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let path = Path::parse("path", &request.path, &context.base)?;
    let metadata = context.workers.short(move || stat(&path)).await?;
    connection.reply(&metadata).await
}

fn stat(path: &Path) -> Result<Metadata, Fault> {
    let stat = match path.locate() {
        Ok(location) => location.stat(),
        // `.`, `..` and the root are folders, and no link.
        Err(_) => statat(CWD, path.bytes.as_slice(), AtFlags::empty()),
    }
    .map_err(|errno| path.fault(errno))?;
    Ok(Metadata {
        kind: kind(&stat),
        size: size(&stat),
        mode: stat.st_mode & 0o7777,
        owner: database::user(stat.st_uid),
        group: database::group(stat.st_gid),
        modified_ms: stat.st_mtime * 1000
            + i64::try_from(stat.st_mtime_nsec).unwrap_or(0) / 1_000_000,
    })
}

fn kind(stat: &Stat) -> &'static str {
    match file_type(stat) {
        FileType::RegularFile => "file",
        FileType::Directory => "dir",
        FileType::Symlink => "symlink",
        _ => "other",
    }
}
