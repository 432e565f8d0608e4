//! Makes the user and network namespaces of slots ahead of time, and pins each by a bind mount, so that they
//! outlive every process until a machine joins them.
//!
//! A child enters new namespaces and waits; the parent, which keeps its rights over the host's ids, writes the
//! maps and pins. The network namespace belongs to the user namespace: root inside has no power outside of it. With a
//! link, the parent then makes its ends, and the child, the only process that is in the namespace, sets up its own. All groups
//! of the machine may send echo requests, for which nobody inside has the right to a raw socket.
//!
//! The slot's first id owns the user namespace. The kernel counts what it limits by user (inotify instances, message
//! queues, pending signals, locked memory) for the owner of each namespace too: were that the host's root, one machine
//! could use up what all others and the host need.

use super::link::{Link, Network, make_host_end, make_machine_end};
use super::settings::Settings;
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;

/// Ids in one slot's range.
pub const ID_COUNT: u64 = 65_536;

/// Limits of one machine, all its users together: timers and queued signals, then bytes of message queues.
const NAMESPACE_LIMITS: [(libc::__rlimit_resource_t, libc::rlim_t); 2] = [
    (libc::RLIMIT_SIGPENDING, 16_384),
    (libc::RLIMIT_MSGQUEUE, 819_200),
];

pub struct Slot {
    pub uid_base: u64,
    /// Files of the pins.
    pub user: String,
    pub net: String,
    /// None without a network: only loopback.
    pub link: Option<Link>,
}

/// Pins a slot's namespaces, and makes its link when there is a network. The files of the pins are made here;
/// their folders exist. After a failure the caller removes the remains.
pub fn pin(slot: &Slot, settings: &Settings, network: Option<&mut Network>) -> io::Result<()> {
    let (mut parent_end, mut child_end) = UnixStream::pair()?;
    // SAFETY: the launcher has one thread, so the child may go on using everything that it inherited.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            drop(parent_end);
            let held = hold_namespaces(&mut child_end, slot, settings, network.as_deref());
            if let Err(error) = &held {
                // A parent that is gone needs no report.
                let _ = child_end.write_all(error.to_string().as_bytes());
            }
            let code = i32::from(held.is_err());
            // SAFETY: _exit takes a number and does not return. It runs no exit handlers, which are the parent's.
            unsafe { libc::_exit(code) }
        }
        pid => {
            drop(child_end);
            let pinned = pin_child(&mut parent_end, pid, slot, settings, network);
            drop(parent_end);
            // SAFETY: `pid` is this process's own child, not waited for yet; no status is asked for.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
            pinned
        }
    }
}

/// Written by the child after each of its steps; anything else is the reason of its failure.
const READY: &[u8] = b"ready";
/// Written by the parent once the ids are mapped and the machine's end of the link exists.
const MAPPED: &[u8] = b"mapped";

/// Runs in the child: makes new namespaces, then sets up all that needs mapped ids, and its end of the link.
/// Waits until the parent hangs up.
fn hold_namespaces(
    parent: &mut UnixStream,
    slot: &Slot,
    settings: &Settings,
    network: Option<&Network>,
) -> io::Result<()> {
    limit_namespace().map_err(|error| of("its limits", error))?;
    become_owner(slot.uid_base as libc::uid_t).map_err(|error| of("its user", error))?;
    enter_namespaces().map_err(|error| of("its namespaces", error))?;
    prepare_network(settings).map_err(|error| of("its network", error))?;
    parent.write_all(READY)?;
    if heard(parent)? == MAPPED {
        settings
            .set("ipv4/ping_group_range", &format!("0 {}", ID_COUNT - 1))
            .map_err(|error| of("its echo requests", error))?;
        if let (Some(network), Some(link)) = (network, &slot.link) {
            make_machine_end(&network.gateway, link.address)
                .map_err(|error| of("its link", error))?;
        }
        parent.write_all(READY)?;
    }
    parent.read_to_end(&mut Vec::new())?;
    Ok(())
}

fn of(part: &str, error: io::Error) -> io::Error {
    io::Error::other(format!("{part}: {error}"))
}

fn enter_namespaces() -> io::Result<()> {
    // SAFETY: both calls take numbers. The process has one thread, so the namespaces are those of all of it.
    unsafe {
        // After the change of user, which clears it.
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        check(libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET)).map(|_| ())
    }
}

/// A user namespace takes the limits of the process that makes it, for all its users together. A host with little
/// memory has lower ones, and a container may not raise them.
fn limit_namespace() -> io::Result<()> {
    for (resource, most) in NAMESPACE_LIMITS {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: the kernel writes and then reads `limit`, which outlives both calls.
        unsafe {
            check(libc::getrlimit(resource, &mut limit))?;
            limit.rlim_max = limit.rlim_max.min(most);
            limit.rlim_cur = limit.rlim_max;
            check(libc::setrlimit(resource, &limit))?;
        }
    }
    Ok(())
}

/// Changes the user, and keeps the capabilities: hosts may refuse user namespaces to users without them.
fn become_owner(uid_base: libc::uid_t) -> io::Result<()> {
    const SECBIT_NO_SETUID_FIXUP: libc::c_ulong = 1 << 2;
    // SAFETY: the calls take numbers, and an empty list of groups has no address that is read. The process has one
    // thread, so the ids are those of all of it.
    unsafe {
        check(libc::prctl(libc::PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP))?;
        check(libc::setgroups(0, std::ptr::null()))?;
        check(libc::setresgid(uid_base, uid_base, uid_base))?;
        check(libc::setresuid(uid_base, uid_base, uid_base)).map(|_| ())
    }
}

/// Records of closed connections, which the kernel charges to nobody.
const TIME_WAIT_MOST: &str = "16384";

/// IPv6 off before any link exists, loopback up.
fn prepare_network(settings: &Settings) -> io::Result<()> {
    for scope in ["default", "all"] {
        match settings.set(&format!("ipv6/conf/{scope}/disable_ipv6"), "1") {
            // A kernel without IPv6 has no such setting.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    settings.set("ipv4/tcp_max_tw_buckets", TIME_WAIT_MOST)?;
    loopback_up()
}

/// Sets loopback up in the namespace of the calling thread.
pub fn loopback_up() -> io::Result<()> {
    // SAFETY: an ifreq of zeroes is a valid one, and its name ends in NUL. The kernel reads it during the call. The
    // socket is this function's own, and closed on every way out.
    unsafe {
        let socket = check(libc::socket(
            libc::AF_INET,
            libc::SOCK_DGRAM | libc::SOCK_CLOEXEC,
            0,
        ))?;
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
        let result = check(libc::ioctl(socket, libc::SIOCSIFFLAGS, &request));
        libc::close(socket);
        result.map(|_| ())
    }
}

fn pin_child(
    child: &mut UnixStream,
    pid: libc::pid_t,
    slot: &Slot,
    settings: &Settings,
    network: Option<&mut Network>,
) -> io::Result<()> {
    expect_ready(child)?;
    for map in ["uid_map", "gid_map"] {
        fs::write(
            format!("/proc/{pid}/{map}"),
            format!("0 {} {ID_COUNT}\n", slot.uid_base),
        )?;
    }
    pin_namespace(&format!("/proc/{pid}/ns/user"), &slot.user)?;
    pin_namespace(&format!("/proc/{pid}/ns/net"), &slot.net)?;
    if let (Some(network), Some(link)) = (network, &slot.link) {
        let machine = File::open(&slot.net)?.into();
        make_host_end(network, settings, link, &machine).map_err(|error| of(&link.name, error))?;
    }
    child.write_all(MAPPED)?;
    expect_ready(child)
}

fn expect_ready(child: &mut UnixStream) -> io::Result<()> {
    let said = heard(child)?;
    match said.as_slice() {
        READY => Ok(()),
        [] => Err(io::Error::other("its process ended")),
        reason => Err(io::Error::other(
            String::from_utf8_lossy(reason).into_owned(),
        )),
    }
}

/// Reads the next message of the other side; empty when it has hung up.
fn heard(side: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut words = vec![0; 256];
    let length = side.read(&mut words)?;
    words.truncate(length);
    Ok(words)
}

fn pin_namespace(namespace: &str, path: &str) -> io::Result<()> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    let source = CString::new(namespace)?;
    let target = CString::new(path)?;
    // SAFETY: both paths are terminated strings that outlive the call; a bind mount reads no other argument.
    unsafe {
        check(libc::mount(
            source.as_ptr(),
            target.as_ptr(),
            std::ptr::null(),
            libc::MS_BIND,
            std::ptr::null(),
        ))?;
    }
    Ok(())
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}
