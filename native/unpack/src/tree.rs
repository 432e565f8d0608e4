//! The tree that is made, reached from its root by descriptors alone.
//!
//! This program looks names up one folder at a time and follows links inside the root, as a sandbox will
//! follow them. Entries of the current layer are marked, so that its removals affect lower layers only.

use crate::budget::Budget;
use crate::failure::{Failure, Step, unusable};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, readlinkat, statat,
    unlinkat,
};
use rustix::io::Errno;
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

/// The kernel's own bound.
const MOST_LINKS: usize = 40;
const MOST_STEPS: usize = 8192;
const O_FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

pub struct Tree {
    root: Rc<OwnedFd>,
    /// Inodes that the current layer has made or uses.
    marked: HashSet<u64>,
    /// The folder of the previous entry, which most entries share. Forgotten at each removal.
    last: Option<(Vec<u8>, Rc<OwnedFd>)>,
    depth: usize,
}

impl Tree {
    pub fn new(root: OwnedFd, depth: usize) -> Tree {
        Tree {
            root: Rc::new(root),
            marked: HashSet::new(),
            last: None,
            depth,
        }
    }

    pub fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    pub fn begin_layer(&mut self) {
        self.marked.clear();
        self.last = None;
    }

    pub fn mark(&mut self, stat: &Stat) {
        self.marked.insert(stat.st_ino);
    }

    /// Returns a folder by its normalized path, and makes it where it is missing.
    pub fn make_folder(
        &mut self,
        path: &[u8],
        budget: &mut Budget,
    ) -> Result<Rc<OwnedFd>, Failure> {
        if let Some((known, folder)) = &self.last
            && known == path
        {
            return Ok(folder.clone());
        }
        let folder = self.walk(path, Some(budget))?;
        let folder = folder.ok_or_else(|| unusable("a folder vanished"))?;
        self.last = Some((path.to_vec(), folder.clone()));
        Ok(folder)
    }

    /// None when it is not there.
    pub fn find_folder(&mut self, path: &[u8]) -> Result<Option<Rc<OwnedFd>>, Failure> {
        self.walk(path, None)
    }

    fn walk(
        &mut self,
        path: &[u8],
        mut make: Option<&mut Budget>,
    ) -> Result<Option<Rc<OwnedFd>>, Failure> {
        let mut stack = vec![self.root.clone()];
        let mut left: VecDeque<Vec<u8>> = parts(path).collect();
        let (mut links, mut steps) = (0, 0);
        while let Some(part) = left.pop_front() {
            steps += 1;
            if steps > MOST_STEPS || stack.len() > self.depth {
                return Err(unusable("its folders are nested too deeply"));
            }
            if part == b".." {
                if stack.len() > 1 {
                    stack.pop();
                }
                continue;
            }
            let top = stack[stack.len() - 1].clone();
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let found = match openat(&top, part.as_slice(), flags, Mode::empty()) {
                Err(Errno::NOENT) => {
                    let Some(budget) = make.as_deref_mut() else {
                        return Ok(None);
                    };
                    budget.entry()?;
                    mkdirat(&top, part.as_slice(), Mode::from_raw_mode(0o755)).on(path)?;
                    openat(&top, part.as_slice(), flags, Mode::empty()).on(path)?
                }
                other => other.on(path)?,
            };
            let stat = fstat(&found).on(path)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => {
                    if make.is_some() {
                        self.mark(&stat);
                    }
                    stack.push(Rc::new(found));
                }
                FileType::Symlink => {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(unusable("its symbolic links lead in circles"));
                    }
                    let target = readlinkat(&found, "", Vec::new()).on(path)?.into_bytes();
                    if target.starts_with(b"/") {
                        stack.truncate(1);
                    }
                    for part in parts(&target).rev() {
                        left.push_front(part);
                    }
                }
                _ if make.is_some() => return Err(Errno::NOTDIR).on(path),
                _ => return Ok(None),
            }
        }
        Ok(stack.pop())
    }

    /// Removes an entry of any kind, with all in it. A missing one is no failure.
    pub fn remove(&mut self, folder: BorrowedFd<'_>, name: &[u8]) -> Result<(), Failure> {
        self.last = None;
        self.clear_name(folder, name, false, 0)
    }

    /// As `remove`, but keeps entries of the current layer.
    pub fn remove_lower(&mut self, folder: BorrowedFd<'_>, name: &[u8]) -> Result<(), Failure> {
        self.last = None;
        self.clear_name(folder, name, true, 0)
    }

    /// Removes all that lower layers have in it.
    pub fn empty_lower(&mut self, folder: BorrowedFd<'_>) -> Result<(), Failure> {
        self.last = None;
        let open = openat(folder, ".", O_FOLDER, Mode::empty()).step("open a folder")?;
        self.clear_folder(open, true, 0)
    }

    fn clear_name(
        &mut self,
        folder: BorrowedFd<'_>,
        name: &[u8],
        lower_only: bool,
        depth: usize,
    ) -> Result<(), Failure> {
        let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(()),
            other => other.on(name)?,
        };
        let keep = lower_only && self.marked.contains(&stat.st_ino);
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return if keep {
                Ok(())
            } else {
                unlinkat(folder, name, AtFlags::empty()).on(name)
            };
        }
        if depth > 2 * self.depth {
            return Err(unusable("its folders are nested too deeply"));
        }
        let open = openat(folder, name, O_FOLDER, Mode::empty()).on(name)?;
        self.clear_folder(open, keep, depth + 1)?;
        if keep {
            return Ok(());
        }
        unlinkat(folder, name, AtFlags::REMOVEDIR).on(name)
    }

    fn clear_folder(
        &mut self,
        folder: OwnedFd,
        lower_only: bool,
        depth: usize,
    ) -> Result<(), Failure> {
        // Names are collected first: a removal during the listing may shift the rest of the listing.
        let names: Vec<Vec<u8>> = Dir::read_from(&folder)
            .step("list a folder")?
            .map(|entry| entry.map(|entry| entry.file_name().to_bytes().to_vec()))
            .collect::<Result<_, _>>()
            .step("list a folder")?;
        for name in names
            .iter()
            .filter(|name| !matches!(name.as_slice(), b"." | b".."))
        {
            self.clear_name(folder.as_fd(), name, lower_only, depth)?;
        }
        Ok(())
    }
}

fn parts(path: &[u8]) -> impl DoubleEndedIterator<Item = Vec<u8>> {
    path.split(|&byte| byte == b'/')
        .filter(|part| !matches!(*part, b"" | b"."))
        .map(<[u8]>::to_vec)
}
