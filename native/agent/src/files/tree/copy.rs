//! Copies an entry with all below it: contents, modes, owners, times, symbolic and hard links.

use rustix::fs::{
    AtFlags, Dir, FileType, Gid, Mode, OFlags, Stat, Timespec, Timestamps, Uid, chmod, chownat,
    fchmod, fchown, futimens, linkat, mkdirat, mknodat, openat, readlinkat, statat, symlinkat,
    utimensat,
};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::CStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use crate::files::location::{Location, Path, file_type};
use crate::files::reach;
use crate::files::writing::durable;
use crate::init::workers::Cancelled;
use crate::wire::fault::{Code, Fault};
use crate::wire::frame::DATA_CHUNK_BYTES;

/// Two folders are open a level, and the worker's stack is small.
const MAX_DEPTH: usize = 200;

/// `to` must not exist. After a failure the caller removes the partial copy.
pub fn copy(
    subject: &Path,
    from: &Location,
    to: &Location,
    cancelled: &Cancelled,
) -> Result<(), Fault> {
    let mut copier = Copier {
        subject,
        cancelled,
        top: to.folder.as_fd(),
        links: HashMap::new(),
        below: Vec::new(),
    };
    copier.entry(from.folder.as_fd(), &from.name, to.folder.as_fd(), &to.name)
}

struct Copier<'a> {
    subject: &'a Path,
    cancelled: &'a Cancelled,
    top: BorrowedFd<'a>,
    /// Files with several names, by device and inode, with the place of their copy below `top`.
    links: HashMap<(u64, u64), Vec<u8>>,
    /// Names from `top` to the present folder.
    below: Vec<Vec<u8>>,
}

impl Copier<'_> {
    fn entry(
        &mut self,
        from: BorrowedFd<'_>,
        from_name: &CStr,
        to: BorrowedFd<'_>,
        name: &CStr,
    ) -> Result<(), Fault> {
        self.cancelled.check()?;
        let stat = statat(from, from_name, AtFlags::SYMLINK_NOFOLLOW).map_err(|e| self.fault(e))?;
        match file_type(&stat) {
            FileType::Directory => self.folder(from, from_name, to, name, &stat),
            FileType::Symlink => self.link(from, from_name, to, name, &stat),
            kind if stat.st_nlink > 1 && self.link_to_copy(&stat, to, name) => {
                debug_assert!(kind != FileType::Directory);
                Ok(())
            }
            FileType::RegularFile => self.file(from, from_name, to, name),
            kind => self
                .special(kind, to, name, &stat)
                .map_err(|e| self.fault(e)),
        }
    }

    fn folder(
        &mut self,
        from: BorrowedFd<'_>,
        from_name: &CStr,
        to: BorrowedFd<'_>,
        name: &CStr,
        stat: &Stat,
    ) -> Result<(), Fault> {
        if self.below.len() >= MAX_DEPTH {
            return Err(Fault::new(
                Code::FailedPrecondition,
                format!("'{}' is too deep to be copied.", self.subject.text),
            ));
        }
        let source = open(from, from_name, OFlags::DIRECTORY).map_err(|e| self.fault(e))?;
        mkdirat(to, name, Mode::RWXU).map_err(|e| self.fault(e))?;
        let target = open(to, name, OFlags::DIRECTORY).map_err(|e| self.fault(e))?;
        self.below.push(name.to_bytes().to_vec());
        for entry in Dir::read_from(&source).map_err(|e| self.fault(e))? {
            let entry = entry.map_err(|e| self.fault(e))?;
            let child = entry.file_name();
            if child != c"." && child != c".." {
                self.entry(source.as_fd(), child, target.as_fd(), child)?;
            }
        }
        self.below.pop();
        preserve(&target, stat).map_err(|e| self.fault(e))
    }

    fn file(
        &mut self,
        from: BorrowedFd<'_>,
        from_name: &CStr,
        to: BorrowedFd<'_>,
        name: &CStr,
    ) -> Result<(), Fault> {
        let source = open(from, from_name, OFlags::NONBLOCK).map_err(|e| self.fault(e))?;
        let stat = rustix::fs::fstat(&source).map_err(|e| self.fault(e))?;
        if file_type(&stat) != FileType::RegularFile {
            return Err(self.fault(Errno::INVAL));
        }
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let target = openat(to, name, flags, Mode::RUSR | Mode::WUSR).map_err(|e| self.fault(e))?;
        let mut target = File::from(target);
        self.content(&mut File::from(source), &mut target)?;
        preserve(&target, &stat).map_err(|e| self.fault(e))?;
        // The original is deleted next, which may be committed within a second.
        durable::write_out(&target).map_err(|e| self.fault(e))?;
        if stat.st_nlink > 1 {
            let mut path = self.below.concat_with_slashes();
            path.extend_from_slice(name.to_bytes());
            self.links.insert((stat.st_dev, stat.st_ino), path);
        }
        Ok(())
    }

    fn content(&self, source: &mut File, target: &mut File) -> Result<(), Fault> {
        let mut buffer = vec![0; DATA_CHUNK_BYTES];
        loop {
            self.cancelled.check()?;
            match source.read(&mut buffer)? {
                0 => return Ok(()),
                read => target.write_all(&buffer[..read])?,
            }
        }
    }

    /// Returns true where the file was copied before under another name, which this name now links to.
    fn link_to_copy(&self, stat: &Stat, to: BorrowedFd<'_>, name: &CStr) -> bool {
        self.links
            .get(&(stat.st_dev, stat.st_ino))
            .is_some_and(|path| {
                linkat(self.top, path.as_slice(), to, name, AtFlags::empty()).is_ok()
            })
    }

    fn link(
        &self,
        from: BorrowedFd<'_>,
        from_name: &CStr,
        to: BorrowedFd<'_>,
        name: &CStr,
        stat: &Stat,
    ) -> Result<(), Fault> {
        let made = readlinkat(from, from_name, Vec::new())
            .and_then(|target| symlinkat(target, to, name))
            .and_then(|()| {
                let _ = chownat(to, name, uid(stat), gid(stat), AtFlags::SYMLINK_NOFOLLOW);
                utimensat(to, name, &times(stat), AtFlags::SYMLINK_NOFOLLOW)
            });
        made.map_err(|e| self.fault(e))
    }

    /// Copies pipes and sockets; a sandbox cannot make devices.
    fn special(
        &self,
        kind: FileType,
        to: BorrowedFd<'_>,
        name: &CStr,
        stat: &Stat,
    ) -> rustix::io::Result<()> {
        mknodat(to, name, kind, Mode::RUSR | Mode::WUSR, stat.st_rdev)?;
        let _ = chownat(to, name, uid(stat), gid(stat), AtFlags::SYMLINK_NOFOLLOW);
        let node = openat(
            to,
            name,
            OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        chmod(format!("/proc/self/fd/{}", node.as_raw_fd()), mode(stat))?;
        utimensat(to, name, &times(stat), AtFlags::SYMLINK_NOFOLLOW)
    }

    fn fault(&self, errno: Errno) -> Fault {
        self.subject.fault(errno)
    }
}

trait ConcatWithSlashes {
    /// Each part and a slash after it.
    fn concat_with_slashes(&self) -> Vec<u8>;
}

impl ConcatWithSlashes for Vec<Vec<u8>> {
    fn concat_with_slashes(&self) -> Vec<u8> {
        self.iter()
            .flat_map(|part| part.iter().copied().chain([b'/']))
            .collect()
    }
}

fn open(folder: BorrowedFd<'_>, name: &CStr, extra: OFlags) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | extra;
    openat(folder, name, flags, Mode::empty()).and_then(reach::unless_own)
}

/// Owner first, since a change of owner clears bits of the mode. An owner that this sandbox has no number for is lost.
fn preserve(file: impl AsFd, stat: &Stat) -> rustix::io::Result<()> {
    let _ = fchown(&file, uid(stat), gid(stat));
    fchmod(&file, mode(stat))?;
    futimens(&file, &times(stat))
}

fn uid(stat: &Stat) -> Option<Uid> {
    Some(Uid::from_raw(stat.st_uid))
}

fn gid(stat: &Stat) -> Option<Gid> {
    Some(Gid::from_raw(stat.st_gid))
}

fn mode(stat: &Stat) -> Mode {
    Mode::from_raw_mode(stat.st_mode & 0o7777)
}

fn times(stat: &Stat) -> Timestamps {
    let time = |seconds, nanoseconds: u64| Timespec {
        tv_sec: seconds,
        tv_nsec: i64::try_from(nanoseconds).unwrap_or(0),
    };
    Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
    }
}
