//! The steps before the first request: the process's own protection, its entrance, the sandbox root.

use rustix::fs::{Mode, OFlags, open};
use rustix::process::fchdir;
use std::fs;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::arguments::{Arguments, Identity};
use super::network::door::Door;
use super::root::Persistence;
use super::{privileges, root};

/// Relative paths start here.
pub const SANDBOX_ROOT: &str = "/workspace";

/// The launcher puts the listening socket here.
const LISTENER_FD: i32 = 3;

/// Sockets by which the host connects.
pub enum Entrance {
    /// A listening unix socket.
    Socket(OwnedFd),
    Network(Door),
}

pub struct Boot {
    pub identity: Identity,
    pub entrance: Entrance,
    /// None where the launcher has made the whole machine.
    pub persistence: Option<Persistence>,
    /// The disk that this agent carries, instead of running a sandbox.
    pub carried: Option<PathBuf>,
}

pub fn prepare() -> Result<Boot, String> {
    // Shutting down signals every visible process, so outside a PID namespace of its own it would end the host's.
    if std::process::id() != 1 {
        return Err("must be PID 1 of a sandbox".to_owned());
    }
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    protect_process()?;
    restore_signals();
    let entrance = match arguments.network {
        Some(settings) => Entrance::Network(Door::open(settings)?),
        None => Entrance::Socket(take_listener()?),
    };
    let mut may_mount = matches!(&entrance, Entrance::Network(door) if door.by_mount());
    let mut persistence = None;
    if let Some(disk) = arguments.root_disk {
        persistence = Some(make_machine(&disk)?);
        may_mount = true;
    }
    if may_mount {
        privileges::give_up_mounting()?;
    }
    if arguments.carried.is_none() {
        enter_sandbox_root()?;
    }
    Ok(Boot {
        identity: arguments.identity,
        entrance,
        persistence,
        carried: arguments.carried,
    })
}

/// Turns a container into a machine, as the launcher makes them on a host.
fn make_machine(disk: &Path) -> Result<Persistence, String> {
    let persistence = root::take(disk)?;
    sandhaven_filter::Filter::of_machines()
        .install()
        .map_err(|error| format!("cannot filter system calls: {error}"))?;
    Ok(persistence)
}

fn enter_sandbox_root() -> Result<(), String> {
    working_folder(Path::new(SANDBOX_ROOT))
        .and_then(|folder| Ok(fchdir(folder)?))
        .map_err(|error| format!("cannot enter a working folder: {error}"))
}

/// Makes the folder where it is missing. Programs inside can put anything in its place, and still must get
/// their sandbox back: then the folder is `/`.
fn working_folder(root: &Path) -> io::Result<OwnedFd> {
    let make = || {
        if !root.exists() {
            fs::DirBuilder::new().mode(0o755).create(root)?;
            fs::set_permissions(root, fs::Permissions::from_mode(0o755))?;
        }
        folder(root)
    };
    make().or_else(|error| {
        eprintln!(
            "sandhaven-agent: cannot enter {}: {error}; the working folder is /",
            root.display()
        );
        folder(Path::new("/"))
    })
}

fn folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?)
}

/// Resets signals that the agent's parent may have ignored, since commands would inherit that. SIGPIPE stays ignored,
/// as in every program of Rust. Calls the kernel directly, since libc hides two signals from its callers.
fn restore_signals() {
    const SIGNALS: i32 = 64;
    const SET_BYTES: usize = 8;
    // Handler, flags, restorer and mask, as the kernel lays them out: SIG_DFL and nothing else.
    let default_action = [0u64; 4];
    // SAFETY: the kernel reads one action of that layout, and writes nothing.
    unsafe {
        for signal in (1..=SIGNALS).filter(|signal| *signal != libc::SIGPIPE) {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default_action.as_ptr(),
                std::ptr::null_mut::<u64>(),
                SET_BYTES,
            );
        }
    }
}

/// Not dumpable: no program inside can read the agent's memory, environment or descriptors. No inherited descriptor
/// reaches a command. Signals arrive by descriptor only. Freed memory goes back to the host.
fn protect_process() -> Result<(), String> {
    // SAFETY: sigfillset fills the set before anything reads it; the other calls take numbers. No other thread exists
    // yet that could have a signal mask of its own or be in the allocator.
    unsafe {
        if libc::prctl(libc::PR_SET_DUMPABLE, 0) != 0 {
            return Err(last_error("PR_SET_DUMPABLE"));
        }
        if libc::syscall(
            libc::SYS_close_range,
            LISTENER_FD,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        ) != 0
        {
            return Err(last_error("close_range"));
        }
        libc::umask(0o022);
        let mut blocked: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut blocked);
        for fatal in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGILL,
            libc::SIGFPE,
            libc::SIGABRT,
        ] {
            libc::sigdelset(&raw mut blocked, fatal);
        }
        libc::sigprocmask(libc::SIG_SETMASK, &raw const blocked, std::ptr::null_mut());
        libc::mallopt(libc::M_ARENA_MAX, 1);
        libc::mallopt(libc::M_MMAP_THRESHOLD, 64 * 1024);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 128 * 1024);
    }
    Ok(())
}

fn take_listener() -> Result<OwnedFd, String> {
    let mut listening: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel writes to two locals, to the first within the length that the second states.
    let result = unsafe {
        libc::getsockopt(
            LISTENER_FD,
            libc::SOL_SOCKET,
            libc::SO_ACCEPTCONN,
            (&raw mut listening).cast(),
            &raw mut length,
        )
    };
    if result != 0 || listening != 1 {
        return Err("descriptor 3 is not a listening socket".to_owned());
    }
    // SAFETY: descriptor 3 is open, and nothing else in this process owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(LISTENER_FD) })
}

fn last_error(call: &str) -> String {
    format!("{call}: {}", std::io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, symlink};

    #[test]
    fn the_working_folder_is_the_root_where_it_is_no_folder() {
        let scratch = std::env::temp_dir().join(format!("working-{}", std::process::id()));
        fs::create_dir(&scratch).unwrap();
        let root = fs::metadata("/").unwrap().ino();
        let found = |name: &str| {
            let folder = fs::File::from(working_folder(&scratch.join(name)).unwrap());
            folder.metadata().unwrap()
        };
        let made = found("made");
        assert!(made.ino() != root && made.mode() & 0o7777 == 0o755);
        symlink("made", scratch.join("link")).unwrap();
        assert_eq!(found("link").ino(), made.ino());
        fs::write(scratch.join("file"), "").unwrap();
        symlink("nowhere", scratch.join("dangling")).unwrap();
        for odd in ["file", "dangling", "not/there"] {
            assert_eq!(found(odd).ino(), root, "{odd}");
        }
        fs::remove_dir_all(&scratch).unwrap();
    }
}
