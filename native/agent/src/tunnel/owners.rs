//! The processes that hold sockets, by the sockets' inodes.
//!
//! The kernel shows a process's descriptors to processes that may trace it. This agent may trace only
//! processes of its own user, so its thread takes the user of each process while it reads.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;

use crate::init::identity::run_as;
use crate::init::workers::Cancelled;
use crate::wire::fault::Fault;

/// Most descriptors of all processes together.
const MAX_DESCRIPTORS: usize = 500_000;
/// Most bytes of a process's arguments.
const MAX_ARGUMENT_BYTES: u64 = 4_096;
/// Most characters of a shown command.
const COMMAND_CHARS: usize = 200;
/// Most bytes of a name in the kernel.
const NAME_BYTES: usize = 15;

#[derive(Clone)]
pub struct Owner {
    pub pid: u32,
    pub name: String,
    /// None where it is unknown.
    pub command: Option<String>,
}

/// Maps inodes to owners. Sockets of unknown owners are missing; of several holders the eldest counts.
pub fn owners_of(
    inodes: impl Iterator<Item = u64>,
    cancelled: &Cancelled,
) -> Result<HashMap<u64, Owner>, Fault> {
    let mut sought: HashSet<u64> = inodes.collect();
    let mut owners = HashMap::new();
    let mut descriptors = 0;
    for pid in processes() {
        if sought.is_empty() || descriptors >= MAX_DESCRIPTORS {
            break;
        }
        cancelled.check()?;
        let Some(ids) = ids_of(pid) else { continue };
        let Ok(held) = run_as(ids.user, ids.group, &[], || {
            sockets_of(pid, MAX_DESCRIPTORS - descriptors)
        }) else {
            continue;
        };
        descriptors += held.looked_at;
        let mut owner = None;
        for inode in held.sockets {
            if sought.remove(&inode) {
                let owner = owner.get_or_insert_with(|| owner_of(pid));
                owners.insert(inode, owner.clone());
            }
        }
    }
    Ok(owners)
}

fn processes() -> Vec<u32> {
    let mut pids: Vec<u32> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    pids.sort_unstable();
    pids
}

struct Ids {
    user: u32,
    group: u32,
}

/// Returns the effective ids. A process with other real ids is visible only to processes that may trace everything.
fn ids_of(pid: u32) -> Option<Ids> {
    let status = fs::read(format!("/proc/{pid}/status")).ok()?;
    let effective = |key: &[u8]| -> Option<u32> {
        let line = status
            .split(|byte| *byte == b'\n')
            .find(|line| line.starts_with(key))?;
        std::str::from_utf8(line)
            .ok()?
            .split_ascii_whitespace()
            .nth(2)?
            .parse()
            .ok()
    };
    Some(Ids {
        user: effective(b"Uid:")?,
        group: effective(b"Gid:")?,
    })
}

struct Held {
    sockets: Vec<u64>,
    looked_at: usize,
}

fn sockets_of(pid: u32, most: usize) -> Held {
    let mut held = Held {
        sockets: Vec::new(),
        looked_at: 0,
    };
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return held;
    };
    for entry in entries.flatten().take(most) {
        held.looked_at += 1;
        if let Ok(target) = fs::read_link(entry.path()) {
            held.sockets
                .extend(socket_inode(target.as_os_str().as_bytes()));
        }
    }
    held
}

/// Parses `socket:[123]`.
fn socket_inode(target: &[u8]) -> Option<u64> {
    let number = target.strip_prefix(b"socket:[")?.strip_suffix(b"]")?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

fn owner_of(pid: u32) -> Owner {
    let arguments = arguments_of(pid).unwrap_or_default();
    Owner {
        pid,
        name: name_of(pid, &arguments),
        command: command_of(&arguments),
    }
}

/// Reads the process's arguments, each ended by a NUL, cut at the bound.
fn arguments_of(pid: u32) -> Option<Vec<u8>> {
    let mut arguments = Vec::new();
    let file = fs::File::open(format!("/proc/{pid}/cmdline")).ok()?;
    file.take(MAX_ARGUMENT_BYTES)
        .read_to_end(&mut arguments)
        .ok()?;
    Some(arguments)
}

/// Joins the arguments with spaces. They are empty where a process has overwritten them.
fn command_of(arguments: &[u8]) -> Option<String> {
    let end = arguments.iter().rposition(|byte| *byte != 0)? + 1;
    let spaced: Vec<u8> = arguments[..end]
        .iter()
        .map(|byte| if *byte == 0 { b' ' } else { *byte })
        .collect();
    let text = String::from_utf8_lossy(&spaced);
    Some(text.chars().take(COMMAND_CHARS).collect())
}

/// The name that `ps` shows. Node renames the thread that the name comes from, so its program is named instead.
fn name_of(pid: u32, arguments: &[u8]) -> String {
    let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    let name = name.trim_ascii_end();
    if name == b"MainThread"
        && let Some(program) = program_of(arguments)
    {
        return program;
    }
    String::from_utf8_lossy(name).into_owned()
}

/// The file name in the first argument, cut as the kernel cuts names.
fn program_of(arguments: &[u8]) -> Option<String> {
    let first = arguments.split(|byte| *byte == 0).next()?;
    let base = first.rsplit(|byte| *byte == b'/').next()?;
    let base = &base[..base.len().min(NAME_BYTES)];
    (!base.is_empty()).then(|| String::from_utf8_lossy(base).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_its_arguments_with_spaces_and_at_most_200_characters() {
        let shown = |arguments: &[u8]| command_of(arguments);
        assert_eq!(shown(b"node\0app.mjs\0"), Some("node app.mjs".into()));
        assert_eq!(shown(b"a\0\0b c"), Some("a  b c".into()));
        assert_eq!(
            shown(b"nginx: master\0\0\0\0"),
            Some("nginx: master".into())
        );
        assert_eq!(shown(b"\xff\xfe\0"), Some("\u{fffd}\u{fffd}".into()));
        assert_eq!(shown(b""), None);
        assert_eq!(shown(b"\0\0"), None);
        let long = "\u{1f980}".repeat(300);
        assert_eq!(shown(long.as_bytes()), Some("\u{1f980}".repeat(200)));
    }

    #[test]
    fn this_process_is_known_by_pid_and_command() {
        let owner = owner_of(std::process::id());
        assert_eq!(owner.pid, std::process::id());
        let program = std::env::args().next().unwrap();
        assert!(
            owner
                .command
                .unwrap()
                .starts_with(&program[..program.len().min(100)])
        );
    }

    #[test]
    fn only_links_to_sockets_name_an_inode() {
        assert_eq!(socket_inode(b"socket:[4711]"), Some(4711));
        for other in [
            "pipe:[4711]",
            "socket:[]",
            "socket:[-1]",
            "/tmp/socket:[1]",
            "socket:[1",
        ] {
            assert_eq!(socket_inode(other.as_bytes()), None);
        }
    }
}
