//! The two outputs of one command: FIFOs in a folder of their own, whose reading ends the agent holds and
//! which bash opens by name. Each command has its own pair, so later output of a background child stays with
//! its command.
//!
//! Packet mode, which the order of both outputs rests on (see `exec/pipes.rs`), is a property of what bash has
//! opened, so it is set on duplicates of bash's own descriptors.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fcntl_setfl, mknodat, openat, unlinkat};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::io;
use std::os::fd::OwnedFd;

use crate::exec::pipes::EXACT_ORDER_BYTES;
use crate::init::workers::Workers;
use crate::wire::fault::Fault;

/// Places in the order of the attempts: memory before disk. Any of them may be missing, full or read-only.
const PLACES: [&str; 3] = ["/dev/shm", "/run", "/tmp"];
const NAMES: [&str; 2] = ["out", "err"];
/// Numbers of the descriptors in `shell.bash`.
const OUTPUTS_OF_BASH: [i32; 2] = [61, 62];

pub struct Fifos {
    pub folder: Folder,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
}

/// Removed when dropped, as soon as bash has opened the FIFOs in it.
pub struct Folder {
    pub path: String,
    /// The user of the session may put something else in the place of the path.
    folder: OwnedFd,
}

impl Drop for Folder {
    fn drop(&mut self) {
        for name in NAMES {
            let _ = unlinkat(&self.folder, name, AtFlags::empty());
        }
        let _ = rustix::fs::rmdir(&self.path);
    }
}

pub async fn make(workers: &Workers) -> Result<Fifos, Fault> {
    workers.short(make_anywhere).await
}

fn make_anywhere() -> Result<Fifos, Fault> {
    let mut failure = io::Error::from(io::ErrorKind::NotFound);
    for place in PLACES {
        match make_in(format!("{place}/.sandhaven-{}", random_name()?)) {
            Ok(fifos) => return Ok(fifos),
            Err(error) => failure = error.into(),
        }
    }
    Err(failure.into())
}

fn make_in(path: String) -> rustix::io::Result<Fifos> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::mkdir(&path, Mode::RWXU)?;
    let folder = rustix::fs::open(&path, flags, Mode::empty()).inspect_err(|_| {
        let _ = rustix::fs::rmdir(&path);
    })?;
    let folder = Folder { path, folder };
    let [stdout, stderr] = NAMES.map(|name| {
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(&folder.folder, name, FileType::Fifo, mode, 0)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fifo = openat(&folder.folder, name, flags, Mode::empty())?;
        let _ = rustix::pipe::fcntl_setpipe_size(&fifo, EXACT_ORDER_BYTES);
        Ok(fifo)
    });
    Ok(Fifos {
        stdout: stdout?,
        stderr: stderr?,
        folder,
    })
}

/// Puts the FIFOs that bash has opened into packet mode. Where that fails, the order is nearly exact. Only the shell's
/// own user may do it, so a worker does.
pub async fn keep_order(workers: &Workers, shell: i32) {
    let work = move || {
        set_packet_mode(shell);
        Ok(())
    };
    let _ = workers.short(work).await;
}

fn set_packet_mode(shell: i32) {
    let Some(shell) = Pid::from_raw(shell) else {
        return;
    };
    let Ok(shell) = pidfd_open(shell, PidfdFlags::empty()) else {
        return;
    };
    for descriptor in OUTPUTS_OF_BASH {
        if let Ok(output) = pidfd_getfd(&shell, descriptor, PidfdGetfdFlags::empty()) {
            let _ = fcntl_setfl(&output, OFlags::DIRECT);
        }
    }
}

fn random_name() -> io::Result<String> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(format!("{:016x}", u64::from_le_bytes(bytes)))
}
