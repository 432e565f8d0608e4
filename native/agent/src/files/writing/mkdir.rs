//! The operation `mkdir`: makes folders, with exactly the mode asked for whatever the umask.

use rustix::fs::{CWD, Mode, OFlags, fchmod, mkdirat, openat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::enclosure::Enclosure;
use crate::files::location::{Path, c_name};
use crate::files::reach;
use crate::init::context::Context;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::{Code, Fault};

const PARENT_MODE: u32 = 0o755;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    path: String,
    mode: u32,
    /// Since version 9: the user has root's access.
    #[serde(default)]
    privileged: bool,
}

#[derive(Serialize)]
struct Reply {
    created: bool,
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let path = Path::parse("path", &request.path, &context.base)?;
    let job = move || make(&path, request.mode);
    let workers = context.workers.with_access(request.privileged);
    let reply = workers.short(job).await?;
    connection.reply(&reply).await
}

/// Makes missing parents too. An existing folder keeps its mode.
fn make(path: &Path, mode: u32) -> Result<Reply, Fault> {
    if mode > 0o7777 {
        return Err(Fault::invalid("mode", "A mode is at most 07777."));
    }
    let created = walk(path, &path.bytes, mode, None)?;
    Ok(Reply { created })
}

/// Makes the folders of a file that will be written, and none outside of the enclosure.
pub fn make_parents(path: &Path, enclosure: Option<&Enclosure>) -> Result<(), Fault> {
    let (parent, _) = path.split()?;
    walk(path, parent, PARENT_MODE, enclosure)?;
    Ok(())
}

/// Goes down the path name by name. Returns true when the last folder is new.
fn walk(
    path: &Path,
    bytes: &[u8],
    last_mode: u32,
    enclosure: Option<&Enclosure>,
) -> Result<bool, Fault> {
    // Usually all folders exist.
    if open(CWD, bytes).is_ok() {
        return Ok(false);
    }
    let mut folder = open(CWD, b"/").map_err(|errno| path.fault(errno))?;
    let mut names = bytes
        .split(|&byte| byte == b'/')
        .filter(|name| !name.is_empty() && *name != b".")
        .peekable();
    let mut created = false;
    while let Some(name) = names.next() {
        let mode = if names.peek().is_none() {
            last_mode
        } else {
            PARENT_MODE
        };
        (folder, created) = match open(folder.as_fd(), name) {
            Ok(next) => (next, false),
            Err(Errno::NOENT) => {
                if let Some(enclosure) = enclosure {
                    enclosure.check(path, &folder)?;
                }
                make_one(path, &folder, name, mode)?
            }
            Err(Errno::NOTDIR) => return Err(in_the_way(path, name)),
            Err(errno) => return Err(path.fault(errno)),
        };
    }
    Ok(created)
}

fn open(folder: BorrowedFd<'_>, name: &[u8]) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    reach::open(folder, name, flags, Mode::empty())
}

/// Another process may have made it first: then its folder is used.
fn make_one(
    path: &Path,
    parent: &OwnedFd,
    name: &[u8],
    mode: u32,
) -> Result<(OwnedFd, bool), Fault> {
    let c_name = c_name(name)?;
    let made = match mkdirat(parent, &c_name, Mode::RWXU) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(errno) => return Err(path.fault(errno)),
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(parent, &c_name, flags, Mode::empty()).map_err(|errno| match errno {
        // A link that leads nowhere, or a file.
        Errno::NOTDIR | Errno::LOOP => in_the_way(path, name),
        errno => path.fault(errno),
    })?;
    if made {
        fchmod(&folder, Mode::from_raw_mode(mode)).map_err(|errno| path.fault(errno))?;
    }
    Ok((folder, made))
}

fn in_the_way(path: &Path, name: &[u8]) -> Fault {
    let name = crate::files::path_text::to_text(name);
    Fault::new(
        Code::AlreadyExists,
        format!(
            "'{}' cannot be made: '{name}' exists and is not a folder.",
            path.text
        ),
    )
    .parameter(path.parameter)
}
