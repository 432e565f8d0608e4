//! One layer over those before it: files, folders and links with their owners, modes, attributes and times.

use crate::archive::{Archive, Entry, Kind};
use crate::failure::{Failure, Kind as Fault, Step, shown, too_large, unusable};
use crate::layer::Source;
use crate::name::{self, Meaning};
use crate::sparse::Part;
use crate::tree::Tree;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Timespec, Timestamps, Uid, XattrFlags, chmodat, chownat,
    fchmod, fchown, fsetxattr, fstat, ftruncate, futimens, linkat, mkdirat, mknodat, openat,
    statat, symlinkat, utimensat,
};
use rustix::io::{Errno, pwrite};
use std::collections::HashSet;

/// Ids that a sandbox has; all others become `nobody`.
const MOST_ID: u64 = 65_535;
const NOBODY: u32 = 65_534;
/// Most bytes of names of folders whose times are set last.
const FOLDER_NAMES_BYTES: usize = 64 * 1024 * 1024;
const MOST_DEVICES: usize = 10_000;
const BUFFER: usize = 256 * 1024;

pub struct Applier {
    tree: Tree,
    /// Folders of this layer, whose times are set after the last entry in them.
    folders: Vec<(Vec<u8>, (i64, u32))>,
    folder_bytes: usize,
    /// Entries that are left out, with all links to them.
    devices: HashSet<Vec<u8>>,
    buffer: Vec<u8>,
}

impl Applier {
    pub fn new(tree: Tree) -> Applier {
        Applier {
            tree,
            folders: Vec::new(),
            folder_bytes: 0,
            devices: HashSet::new(),
            buffer: vec![0; BUFFER],
        }
    }

    pub fn apply<S: Source>(&mut self, archive: &mut Archive<S>) -> Result<(), Failure> {
        self.tree.begin_layer();
        while let Some(entry) = archive.next()? {
            archive.budget().entry()?;
            match name::meaning(&entry.path)? {
                Meaning::Root => self.root(&entry)?,
                Meaning::Entry { folder, name } => self.place(&entry, &folder, &name, archive)?,
                Meaning::Removed { folder, name } => {
                    if let Some(open) = self.tree.find_folder(&folder)? {
                        self.tree.remove_lower(open.as_fd(), &name)?;
                    }
                }
                Meaning::Emptied { folder } => {
                    if let Some(open) = self.tree.find_folder(&folder)? {
                        self.tree.empty_lower(open.as_fd())?;
                    }
                }
                Meaning::Ignored => {}
            }
        }
        self.set_folder_times()
    }

    /// Folders that a machine mounts over or works in; an image need not have them.
    pub fn add_standard_folders(&mut self) -> Result<(), Failure> {
        for (name, mode) in [
            ("dev", 0o755),
            ("etc", 0o755),
            ("proc", 0o755),
            ("run", 0o755),
            ("sys", 0o755),
            ("tmp", 0o1777),
            ("workspace", 0o755),
        ] {
            match mkdirat(self.tree.root(), name, Mode::from_raw_mode(0o755)) {
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error).step("make a standard folder"),
                Ok(()) => chmodat(
                    self.tree.root(),
                    name,
                    Mode::from_raw_mode(mode),
                    AtFlags::empty(),
                )
                .step("make a standard folder")?,
            }
        }
        Ok(())
    }

    pub fn into_tree(self) -> Tree {
        self.tree
    }

    fn root(&mut self, entry: &Entry) -> Result<(), Failure> {
        if !matches!(entry.kind, Kind::Folder) {
            return Err(unusable(format!("{} is not a folder", shown(&entry.path))));
        }
        let root = openat(self.tree.root(), ".", FOLDER, Mode::empty()).on(&entry.path)?;
        describe(root.as_fd(), entry)?;
        self.remember_folder(Vec::new(), entry)
    }

    fn place<S: Source>(
        &mut self,
        entry: &Entry,
        folder: &[u8],
        name: &[u8],
        archive: &mut Archive<S>,
    ) -> Result<(), Failure> {
        let path = if folder.is_empty() {
            name.to_vec()
        } else {
            [folder, b"/", name].concat()
        };
        let parent = self.tree.make_folder(folder, archive.budget())?;
        let parent = parent.as_fd();
        if let Kind::Link(target) = &entry.kind
            && name::clean(target)? == path
        {
            return Ok(());
        }
        if !self.make_way(parent, name, &entry.kind)? {
            let open = openat(parent, name, FOLDER, Mode::empty()).on(&path)?;
            self.describe_folder(open.as_fd(), entry, path)?;
            return Ok(());
        }
        match &entry.kind {
            Kind::Folder => {
                mkdirat(parent, name, Mode::from_raw_mode(0o700)).on(&path)?;
                let open = openat(parent, name, FOLDER, Mode::empty()).on(&path)?;
                return self.describe_folder(open.as_fd(), entry, path);
            }
            Kind::File => self.file(parent, name, entry, archive)?,
            Kind::Link(target) => {
                if !self.link(parent, name, target, &path)? {
                    return Ok(());
                }
            }
            Kind::Symlink(target) => {
                if target.is_empty() || target.contains(&0) {
                    return Err(unusable(format!("{} is a link to nothing", shown(&path))));
                }
                symlinkat(target.as_slice(), parent, name).on(&path)?;
                describe_at(parent, name, entry, AtFlags::SYMLINK_NOFOLLOW)?;
            }
            Kind::Fifo => {
                mknodat(parent, name, FileType::Fifo, Mode::from_raw_mode(0o600), 0).on(&path)?;
                describe_at(parent, name, entry, AtFlags::SYMLINK_NOFOLLOW)?;
                let mode = Mode::from_raw_mode(entry.mode);
                chmodat(parent, name, mode, AtFlags::empty()).on(&path)?;
            }
            Kind::Device => {
                if self.devices.len() >= MOST_DEVICES {
                    return Err(too_large(format!("over {MOST_DEVICES} devices")));
                }
                self.devices.insert(path);
                return Ok(());
            }
        }
        let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).on(&path)?;
        self.tree.mark(&stat);
        Ok(())
    }

    /// Removes an existing entry of that name; returns false for a folder that stays a folder.
    fn make_way(
        &mut self,
        parent: BorrowedFd<'_>,
        name: &[u8],
        kind: &Kind,
    ) -> Result<bool, Failure> {
        let found = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(true),
            other => other.on(name)?,
        };
        let both = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        if both && matches!(kind, Kind::Folder) {
            return Ok(false);
        }
        self.tree.remove(parent, name)?;
        Ok(true)
    }

    fn file<S: Source>(
        &mut self,
        parent: BorrowedFd<'_>,
        name: &[u8],
        entry: &Entry,
        archive: &mut Archive<S>,
    ) -> Result<(), Failure> {
        let most = archive.budget().limits.file_bytes;
        if entry.size > most {
            return Err(too_large(format!(
                "a file over {most} bytes, {}",
                shown(&entry.path)
            )));
        }
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(parent, name, flags, Mode::from_raw_mode(0o600)).on(&entry.path)?;
        let whole = [Part {
            offset: 0,
            length: entry.size,
        }];
        let parts = entry.parts.as_ref().map_or(&whole[..], |map| &map.parts);
        archive
            .budget()
            .takes(parts.iter().map(|part| part.length).sum())?;
        for part in parts {
            self.copy(&file, *part, entry, archive)?;
        }
        if entry.parts.is_some() {
            ftruncate(&file, entry.size).on(&entry.path)?;
        }
        describe(file.as_fd(), entry)?;
        futimens(&file, &times(entry.mtime)).on(&entry.path)
    }

    fn copy<S: Source>(
        &mut self,
        file: &OwnedFd,
        part: Part,
        entry: &Entry,
        archive: &mut Archive<S>,
    ) -> Result<(), Failure> {
        let end = part.offset + part.length;
        let mut at = part.offset;
        while at < end {
            let most = (end - at).min(BUFFER as u64) as usize;
            let count = archive.read(&mut self.buffer[..most])?;
            if count == 0 {
                return Err(unusable(format!(
                    "{} is shorter than its header states",
                    shown(&entry.path)
                )));
            }
            archive.budget().writes(count as u64)?;
            let mut written = 0;
            while written < count {
                written += pwrite(file, &self.buffer[written..count], at + written as u64)
                    .on(&entry.path)?;
            }
            at += count as u64;
        }
        Ok(())
    }

    /// Returns false when its target was left out.
    fn link(
        &mut self,
        parent: BorrowedFd<'_>,
        name: &[u8],
        target: &[u8],
        path: &[u8],
    ) -> Result<bool, Failure> {
        let clean = name::clean(target)?;
        if self.devices.contains(&clean) {
            self.devices.insert(path.to_vec());
            return Ok(false);
        }
        let missing = || {
            unusable(format!(
                "{} is a link to {}, which is not there",
                shown(path),
                shown(target)
            ))
        };
        let (folder, last) = name::split(&clean).ok_or_else(missing)?;
        let from = self.tree.find_folder(&folder)?.ok_or_else(missing)?;
        match linkat(
            from.as_fd(),
            last.as_slice(),
            parent,
            name,
            AtFlags::empty(),
        ) {
            Err(Errno::NOENT) => Err(missing()),
            other => other.on(path).map(|()| true),
        }
    }

    fn describe_folder(
        &mut self,
        folder: BorrowedFd<'_>,
        entry: &Entry,
        path: Vec<u8>,
    ) -> Result<(), Failure> {
        describe(folder, entry)?;
        let stat = fstat(folder).on(&path)?;
        self.tree.mark(&stat);
        self.remember_folder(path, entry)
    }

    fn remember_folder(&mut self, path: Vec<u8>, entry: &Entry) -> Result<(), Failure> {
        self.folder_bytes += path.len();
        if self.folder_bytes > FOLDER_NAMES_BYTES {
            return Err(too_large("a layer whose folders' names are too long"));
        }
        self.folders.push((path, entry.mtime));
        Ok(())
    }

    /// A folder that was replaced meanwhile is skipped.
    fn set_folder_times(&mut self) -> Result<(), Failure> {
        self.folder_bytes = 0;
        for (path, mtime) in std::mem::take(&mut self.folders).into_iter().rev() {
            if let Some(folder) = self.tree.find_folder(&path)? {
                let open = openat(folder.as_fd(), ".", FOLDER, Mode::empty()).on(&path)?;
                futimens(&open, &times(mtime)).on(&path)?;
            }
        }
        Ok(())
    }
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Owner before mode and attributes: a change of owner takes some of them away.
fn describe(open: BorrowedFd<'_>, entry: &Entry) -> Result<(), Failure> {
    let (uid, gid) = owner(entry);
    fchown(open, Some(uid), Some(gid)).on(&entry.path)?;
    fchmod(open, Mode::from_raw_mode(entry.mode)).on(&entry.path)?;
    for (name, value) in &entry.xattrs {
        match fsetxattr(open, name.as_slice(), value, XattrFlags::empty()) {
            // The file system of the data directory has no attributes of this kind.
            Ok(()) | Err(Errno::OPNOTSUPP) => {}
            Err(Errno::NOSPC | Errno::TOOBIG | Errno::RANGE) => {
                let message = format!("attributes of {} that are too large", shown(&entry.path));
                return Err(Failure::new(Fault::TooLarge, message));
            }
            Err(error) => return Err(error).on(&entry.path),
        }
    }
    Ok(())
}

fn describe_at(
    parent: BorrowedFd<'_>,
    name: &[u8],
    entry: &Entry,
    flags: AtFlags,
) -> Result<(), Failure> {
    let (uid, gid) = owner(entry);
    chownat(parent, name, Some(uid), Some(gid), flags).on(&entry.path)?;
    utimensat(parent, name, &times(entry.mtime), flags).on(&entry.path)
}

fn owner(entry: &Entry) -> (Uid, Gid) {
    if entry.uid > MOST_ID || entry.gid > MOST_ID {
        return (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    }
    (
        Uid::from_raw(entry.uid as u32),
        Gid::from_raw(entry.gid as u32),
    )
}

fn times((seconds, nanoseconds): (i64, u32)) -> Timestamps {
    let time = Timespec {
        tv_sec: seconds,
        tv_nsec: nanoseconds.into(),
    };
    Timestamps {
        last_access: time,
        last_modification: time,
    }
}
