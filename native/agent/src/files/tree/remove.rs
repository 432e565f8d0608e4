//! The operation `remove`: deletes an entry, and with `recursive` all below it. Every step is relative to an
//! open folder and follows no link, so a folder that is replaced by a link meanwhile redirects no step.

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use serde::Deserialize;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::files::location::{Location, Path, file_type};
use crate::files::writing::temporary::fresh_name;
use crate::init::boot::SANDBOX_ROOT;
use crate::init::context::Context;
use crate::init::workers::Cancelled;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::{Code, Fault};

/// Folders open at once. Deeper ones are moved up to the top and deleted from there.
const MAX_DEPTH: usize = 128;
/// Passes over a folder in which others keep making new entries.
const MAX_PASSES: usize = 1_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    path: String,
    recursive: bool,
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let path = Path::parse("path", &request.path, &context.base)?;
    let work = context
        .workers
        .long(move |cancelled| remove(&path, request.recursive, cancelled));
    connection.unless_closed(work).await?;
    connection.reply(&serde_json::json!({})).await
}

fn remove(path: &Path, recursive: bool, cancelled: &Cancelled) -> Result<(), Fault> {
    let location = path.locate()?;
    let stat = location.stat().map_err(|errno| path.fault(errno))?;
    refuse_sandbox_root(path, &stat)?;
    if file_type(&stat) != FileType::Directory {
        return unlinkat(&location.folder, &location.name, AtFlags::empty())
            .map_err(|errno| path.fault(errno));
    }
    match unlinkat(&location.folder, &location.name, AtFlags::REMOVEDIR) {
        Err(Errno::NOTEMPTY | Errno::EXIST) if recursive => remove_tree(path, &location, cancelled),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Err(Fault::new(
            Code::FailedPrecondition,
            format!("The folder '{}' is not empty.", path.text),
        )
        .parameter(path.parameter)
        .hint("Pass recursive true to delete it with all that is in it.")),
        result => result.map_err(|errno| path.fault(errno)),
    }
}

/// Fails for the sandbox root, which is neither deleted nor moved.
pub fn refuse_sandbox_root(path: &Path, stat: &Stat) -> Result<(), Fault> {
    let root = statat(CWD, SANDBOX_ROOT, AtFlags::SYMLINK_NOFOLLOW);
    if root.is_ok_and(|root| (root.st_dev, root.st_ino) == (stat.st_dev, stat.st_ino)) {
        return Err(Fault::invalid(
            path.parameter,
            "The sandbox root itself cannot be deleted or moved.",
        )
        .hint("Name what is in it."));
    }
    Ok(())
}

/// A folder with all that is in it.
pub fn remove_tree(path: &Path, location: &Location, cancelled: &Cancelled) -> Result<(), Fault> {
    let failed = |errno| path.fault(errno);
    let top = open_folder(location.folder.as_fd(), &location.name).map_err(failed)?;
    for _ in 0..MAX_PASSES {
        empty(&top, cancelled)?.map_err(failed)?;
        match unlinkat(&location.folder, &location.name, AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => {}
            result => return result.map_err(failed),
        }
    }
    Err(path.fault(Errno::NOTEMPTY))
}

struct Level {
    folder: OwnedFd,
    /// Its name in the folder above.
    name: CString,
}

/// Deletes all that is in `top`. The outer error is the cancellation.
fn empty(top: &OwnedFd, cancelled: &Cancelled) -> Result<rustix::io::Result<()>, Fault> {
    let mut levels: Vec<Level> = Vec::new();
    loop {
        let current = levels.last().map_or(top, |level| &level.folder);
        let next = match delete_entries(current, cancelled)? {
            Ok(next) => next,
            Err(errno) => return Ok(Err(errno)),
        };
        let step = match next {
            Some(name) if levels.len() >= MAX_DEPTH => renameat(current, &name, top, fresh_name()),
            Some(name) => open_folder(current.as_fd(), &name).map(|folder| {
                levels.push(Level { folder, name });
            }),
            None => {
                let Some(done) = levels.pop() else {
                    return Ok(Ok(()));
                };
                let above = levels.last().map_or(top, |level| &level.folder);
                match unlinkat(above, &done.name, AtFlags::REMOVEDIR) {
                    // Somebody has made an entry in it meanwhile; it is visited again.
                    Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
                    result => result,
                }
            }
        };
        match step {
            // Gone, or no longer a folder: it is visited again as what it is now.
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
            Err(errno) => return Ok(Err(errno)),
        }
    }
}

/// Deletes the entries of one folder, up to the first folder that is not empty, whose name it returns.
fn delete_entries(
    folder: &OwnedFd,
    cancelled: &Cancelled,
) -> Result<rustix::io::Result<Option<CString>>, Fault> {
    let entries = match Dir::read_from(folder) {
        Ok(entries) => entries,
        Err(errno) => return Ok(Err(errno)),
    };
    for entry in entries {
        cancelled.check()?;
        let (name, kind) = match &entry {
            Ok(entry) => (entry.file_name(), entry.file_type()),
            Err(errno) => return Ok(Err(*errno)),
        };
        if name == c"." || name == c".." {
            continue;
        }
        match delete_one(folder, name, kind) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::NOTEMPTY | Errno::EXIST) => return Ok(Ok(Some(name.to_owned()))),
            Err(errno) => return Ok(Err(errno)),
        }
    }
    Ok(Ok(None))
}

fn delete_one(folder: &OwnedFd, name: &CStr, kind: FileType) -> rustix::io::Result<()> {
    if kind == FileType::Directory {
        return unlinkat(folder, name, AtFlags::REMOVEDIR);
    }
    match unlinkat(folder, name, AtFlags::empty()) {
        Err(Errno::ISDIR) => unlinkat(folder, name, AtFlags::REMOVEDIR),
        result => result,
    }
}

fn open_folder(parent: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    struct Scratch(std::path::PathBuf);

    impl Scratch {
        fn new() -> Self {
            let path = std::env::temp_dir().join(fresh_name().to_str().unwrap());
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn path(&self, name: &str) -> Path {
            Path::of_system(self.0.join(name).to_str().unwrap()).unwrap()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_tree_goes_and_what_its_links_lead_to_stays() {
        let scratch = Scratch::new();
        fs::create_dir_all(scratch.0.join("tree/a/b")).unwrap();
        fs::create_dir(scratch.0.join("kept")).unwrap();
        fs::write(scratch.0.join("kept/file"), "x").unwrap();
        symlink(scratch.0.join("kept"), scratch.0.join("tree/a/link")).unwrap();
        let path = scratch.path("tree");
        let refused = remove(&path, false, &Cancelled::default()).unwrap_err();
        assert_eq!(refused.code, Code::FailedPrecondition);
        remove(&path, true, &Cancelled::default()).unwrap();
        assert!(!scratch.0.join("tree").exists());
        assert!(scratch.0.join("kept/file").exists());
    }

    #[test]
    fn a_tree_deeper_than_folders_may_be_open_goes() {
        let scratch = Scratch::new();
        let mut deep = scratch.0.join("tree");
        for _ in 0..MAX_DEPTH * 3 {
            deep.push("d");
        }
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("file"), "x").unwrap();
        remove(&scratch.path("tree"), true, &Cancelled::default()).unwrap();
        assert!(!scratch.0.join("tree").exists());
    }
}
