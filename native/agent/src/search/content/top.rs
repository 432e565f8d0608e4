//! The place where a search begins: a folder, or one file in a folder.

use rustix::fs::{AtFlags, CWD, FileType, statat};
use std::ffi::CString;
use std::os::fd::OwnedFd;

use super::walk::Walk;
use crate::files::folder;
use crate::files::location::{Path, file_type};
use crate::wire::fault::Fault;

pub struct Top {
    pub folder: OwnedFd,
    /// None where the whole folder is searched.
    pub file: Option<CString>,
    /// The part of shown paths before the path below the folder.
    pub shown: Vec<u8>,
}

impl Top {
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let stat = statat(CWD, path.bytes.as_slice(), AtFlags::empty())
            .map_err(|errno| path.fault(errno))?;
        match file_type(&stat) {
            FileType::Directory => Ok(Self {
                folder: folder::open_top(&path.bytes).map_err(|errno| path.fault(errno))?,
                file: None,
                shown: path.shown_prefix(),
            }),
            FileType::RegularFile => {
                let shown = path.shown_parent()?;
                let (_, name) = path.split()?;
                let shown = [&shown, name].concat();
                let (location, _) = path.locate()?.follow(path)?;
                Ok(Self {
                    folder: folder::open_below(&location.folder, b"")
                        .map_err(|errno| path.fault(errno))?,
                    file: Some(location.name),
                    shown,
                })
            }
            _ => Err(Fault::invalid(
                path.parameter,
                format!("'{}' is no folder and no regular file.", path.text),
            )),
        }
    }

    pub fn walk(&self) -> Result<Option<Walk>, Fault> {
        match self.file {
            Some(_) => Ok(None),
            None => Ok(Some(Walk::new(self.folder.try_clone()?))),
        }
    }
}
