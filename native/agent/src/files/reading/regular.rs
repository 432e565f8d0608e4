//! Opens regular files for reading, and nothing whose opening could block or have an effect.

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, statat};
use std::fs::File;

use crate::files::location::{Path, file_type};
use crate::files::reach;
use crate::wire::fault::{Code, Fault};

/// Links are followed.
pub fn open_regular(path: &Path) -> Result<File, Fault> {
    let check = |kind: FileType| match kind {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Fault::invalid(
            path.parameter,
            format!("'{}' is a folder.", path.text),
        )
        .hint("List it with Sandbox.ListFiles.")),
        _ => Err(Fault::invalid(
            path.parameter,
            format!("'{}' is not a regular file.", path.text),
        )),
    };
    // Checked before the opening, which a pipe's writer would notice.
    let stat =
        statat(CWD, path.bytes.as_slice(), AtFlags::empty()).map_err(|errno| path.fault(errno))?;
    check(file_type(&stat))?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = reach::open(CWD, path.bytes.as_slice(), flags, Mode::empty())
        .map_err(|errno| path.fault(errno))?;
    check(file_type(
        &rustix::fs::fstat(&file).map_err(|errno| path.fault(errno))?,
    ))?;
    Ok(File::from(file))
}

pub fn io_fault(error: &std::io::Error, path: &Path) -> Fault {
    match error.raw_os_error() {
        Some(raw) => path.fault(rustix::io::Errno::from_raw_os_error(raw)),
        None => Fault::new(Code::Internal, error.to_string()),
    }
}

pub fn too_large(path: &Path, max_bytes: u64) -> Fault {
    Fault::new(
        Code::TooLarge,
        format!("The requested part of '{}' has over {max_bytes} bytes.", path.text),
    )
    .parameter(path.parameter)
    .hint("Read a range with start_line and end_line, or stream it: GET /v1/sandboxes/{sandbox}/files?path=…")
}
