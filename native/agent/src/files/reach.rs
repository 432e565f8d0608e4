//! Opens files that callers name, but none of this process in /proc. The agent alone may open its own memory,
//! environment and descriptors there, so no call reads or writes them for a caller.
//!
//! Links of /proc that are not paths (`fd/3`, `root`, `cwd`, `exe`) are not followed: they lead to what a
//! process has open, and `/proc/self` is the agent.

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstatfs, openat, openat2, readlinkat};
use rustix::io::Errno;
use rustix::path::Arg;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use crate::init::first_ids;

const PROC: i64 = 0x9fa0;
/// The same for every process of the sandbox; `/proc/mounts`, `/proc/net` and `/etc/mtab` are links to them.
const COMMON: [&[u8]; 2] = [b"mounts", b"net"];

/// As openat(2), but with EACCES for files of the agent itself.
pub fn open(
    folder: impl AsFd,
    path: impl Arg + Copy,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::NO_MAGICLINKS;
    let file = match openat2(&folder, path, flags, mode, resolve) {
        // Too many ordinary links fail in the same way, for every process.
        Err(Errno::LOOP) if leads_somewhere(&folder, path) => return Err(Errno::ACCESS),
        result => result?,
    };
    unless_own(file)
}

/// Returns the open file, unless it is one of the agent's in /proc.
pub fn unless_own(file: OwnedFd) -> rustix::io::Result<OwnedFd> {
    if fstatfs(&file)?.f_type != PROC {
        return Ok(file);
    }
    let name = format!("/proc/self/fd/{}", file.as_raw_fd());
    let path = readlinkat(CWD, name, Vec::new())?;
    match is_own(path.as_bytes()) {
        true => Err(Errno::ACCESS),
        false => Ok(file),
    }
}

/// True for paths of /proc and /sys in any spelling. A link under another name is not recognized.
pub fn names_a_file_of_the_kernel(path: &str) -> bool {
    path.contains("proc/") || path.contains("sys/")
}

fn leads_somewhere(folder: impl AsFd, path: impl Arg) -> bool {
    openat(folder, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).is_ok()
}

/// Each thread has a folder in /proc too, although it is not listed.
fn is_own(path: &[u8]) -> bool {
    let mut names = path.split(|&byte| byte == b'/').skip(2);
    let id = names
        .next()
        .and_then(|name| str::from_utf8(name).ok()?.parse().ok());
    id.is_some_and(|id: i32| id < first_ids::COUNT)
        && names.next().is_none_or(|name| !COMMON.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agents_own_are_all_threads_below_the_first_id_of_others() {
        for own in [
            "/proc/1",
            "/proc/1/environ",
            "/proc/7/mem",
            "/proc/1/task/63/fd",
            "/proc/63/maps",
        ] {
            assert!(is_own(own.as_bytes()), "{own}");
        }
        for other in [
            "/proc",
            "/proc/64/environ",
            "/proc/stat",
            "/proc/sys/kernel",
            "/proc/1/mounts",
            "/proc/1/net/tcp",
        ] {
            assert!(!is_own(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn files_of_the_kernel_are_told_by_their_paths() {
        for path in [
            "/proc/meminfo",
            "//proc//stat",
            "../proc/cpuinfo",
            "/sys/devices/system/cpu/online",
        ] {
            assert!(names_a_file_of_the_kernel(path), "{path}");
        }
        for path in ["/workspace/a", "notes", "/etc/hosts"] {
            assert!(!names_a_file_of_the_kernel(path), "{path}");
        }
    }
}
