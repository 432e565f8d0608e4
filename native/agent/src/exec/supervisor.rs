//! The process between the agent and one command. It is a fork of the agent that never executes anything, so
//! nothing here allocates, locks or panics: after a fork of a process with threads only system calls are safe.
//!
//! It is the subreaper of the command's tree. It reports the command's end and exits at once, so that
//! background children pass to PID 1 and live on. On request, or when the agent drops the channel, it kills
//! the whole tree first.

use std::ptr;

use super::command::{Command, MAX_EXTRA_FDS};
use super::report::Report;
use super::tree::{self, Snapshot};
use crate::init::account::Account;

/// The descriptors that a supervisor keeps; all others are the agent's own.
#[derive(Clone, Copy)]
pub struct Descriptors {
    pub channel: i32,
    pub stdin: i32,
    pub stdout: i32,
    pub stderr: i32,
    pub extra: [i32; MAX_EXTRA_FDS],
    pub extra_count: usize,
}

/// Above the numbers that the command's descriptors get.
const FIRST_FREE_FD: i32 = 16;
const OOM_SCORE_ADJ: &[u8] = b"300";
const STACK_BYTES: usize = 64 << 10;

#[repr(align(16))]
#[expect(dead_code, reason = "only its address is used")]
struct Stack([u8; STACK_BYTES]);

static mut STACK: Stack = Stack([0; STACK_BYTES]);
static mut SNAPSHOT: Snapshot = Snapshot::EMPTY;

/// Memory that the new process shares until it executes: it reads its command here, and writes its failure.
struct Handover<'a> {
    command: &'a Command,
    descriptors: Descriptors,
    failure: Option<(Report, i32)>,
}

/// Runs in the fork. With `detached` it exits as soon as the command has started.
pub fn run(command: &Command, descriptors: Descriptors, detached: bool) -> ! {
    // SAFETY: after the fork this process has one thread, and it never goes back to the agent's code: no owner of a
    // descriptor that `keep_only` closes acts again, and nobody else uses the stack and the snapshot.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"sandhaven-exec".as_ptr());
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
        let descriptors = keep_only(descriptors);
        let signals = child_signals();
        if command.outlived {
            libc::setsid();
            libc::ioctl(descriptors.stdin, libc::TIOCSCTTY, 0);
        }
        match start(command, descriptors) {
            Ok(pid) => {
                if detached {
                    libc::_exit(0);
                }
                if command.announced {
                    report(descriptors.channel, Report::Running, pid);
                }
                let terminal = if command.outlived {
                    descriptors.stdin
                } else {
                    -1
                };
                close_all_but(&mut [descriptors.channel, signals, terminal]);
                supervise(descriptors.channel, signals, terminal, pid)
            }
            Err((kind, errno)) => {
                report(descriptors.channel, kind, errno);
                libc::_exit(1)
            }
        }
    }
}

/// # Safety
/// The process has one thread.
unsafe fn supervise(channel: i32, signals: i32, terminal: i32, command: i32) -> ! {
    // SAFETY: the only thread is here, so `SNAPSHOT` has no other reference. The kernel writes to `polled` and `info`
    // within the lengths that it gets, and a siginfo of zeroes is a valid one.
    unsafe {
        loop {
            let mut polled = [channel, signals].map(|fd| libc::pollfd {
                fd,
                events: libc::POLLIN,
                revents: 0,
            });
            libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, -1);
            if polled[0].revents != 0 {
                let snapshot = &raw mut SNAPSHOT;
                let gone = tree::kill_descendants(&mut *snapshot, libc::getpid(), || {
                    reap(command);
                });
                report(channel, Report::Killed, i32::from(!gone));
                libc::_exit(0);
            }
            if polled[1].revents != 0 {
                let mut info: libc::signalfd_siginfo = std::mem::zeroed();
                libc::read(signals, (&raw mut info).cast(), size_of_val(&info));
                if let Some(status) = reap(command) {
                    // The kernel hangs up on the foreground group of a leader that ends: this process alone.
                    libc::tcsetpgrp(terminal, libc::getpgrp());
                    report(channel, Report::Exited, status);
                    libc::_exit(0);
                }
            }
        }
    }
}

/// Reaps every child that ended. Returns the command's status when it is among them.
fn reap(command: i32) -> Option<i32> {
    let mut ended = None;
    loop {
        let mut status = 0;
        // SAFETY: the kernel writes one status, to a local.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        if pid <= 0 {
            return ended;
        }
        if pid == command {
            ended = Some(status);
        }
    }
}

/// The command's process shares memory with this one until it executes, so its failure is known at once.
///
/// # Safety
/// The process has one thread.
unsafe fn start(command: &Command, descriptors: Descriptors) -> Result<i32, (Report, i32)> {
    let mut handover = Handover {
        command,
        descriptors,
        failure: None,
    };
    // SAFETY: this process is suspended until the new one has executed or ended, so `handover` outlives its use. The
    // stack grows down from the end of `STACK`, which nobody else uses. The failure is read as what another process may
    // have written.
    unsafe {
        let top = (&raw mut STACK).cast::<u8>().add(STACK_BYTES);
        let pid = libc::clone(
            become_command,
            top.cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            (&raw mut handover).cast(),
        );
        if pid < 0 {
            return Err((Report::ForkFailed, *libc::__errno_location()));
        }
        match (&raw const handover.failure).read_volatile() {
            None => Ok(pid),
            Some(failure) => Err(failure),
        }
    }
}

extern "C" fn become_command(argument: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the argument is the `Handover` of `start`, which is suspended in clone and touches it only
    // after this process has executed or ended. The calls get strings that end in NUL, and descriptors that
    // are numbers here.
    unsafe {
        let handover = &mut *argument.cast::<Handover>();
        let descriptors = handover.descriptors;
        report(descriptors.channel, Report::Started, libc::getpid());
        if handover.command.outlived {
            libc::setpgid(0, 0);
            libc::tcsetpgrp(descriptors.stdin, libc::getpid());
        } else {
            libc::setsid();
        }
        let mut order = [
            descriptors.stdin,
            descriptors.stdout,
            descriptors.stderr,
            0,
            0,
        ];
        let count = 3 + descriptors.extra_count;
        order[3..count].copy_from_slice(&descriptors.extra[..descriptors.extra_count]);
        for (to, from) in order[..count].iter().enumerate() {
            libc::dup2(*from, to as i32);
        }
        if handover.command.terminal && !handover.command.outlived {
            libc::ioctl(0, libc::TIOCSCTTY, 0);
        }
        raise_oom_score();
        restore_signals();
        if let Some(account) = &handover.command.account
            && let Err(errno) = become_user(account)
        {
            handover.failure = Some((Report::UserFailed, errno));
            libc::_exit(127);
        }
        if libc::chdir(handover.command.cwd()) != 0 {
            handover.failure = Some((Report::CwdFailed, *libc::__errno_location()));
            libc::_exit(127);
        }
        let errno = handover.command.execute();
        handover.failure = Some((Report::ExecFailed, errno));
        libc::_exit(127)
    }
}

/// Gives the program its streams, which it may open again by name, and then all rights of the user and no others.
fn become_user(account: &Account) -> Result<(), i32> {
    // SAFETY: the kernel reads the groups within their count, and writes one `stat` to a local. The calls concern this
    // process alone, which has one thread.
    unsafe {
        for stream in 0..3 {
            let mut found: libc::stat = std::mem::zeroed();
            let is_pipe = libc::fstat(stream, &raw mut found) == 0
                && found.st_mode & libc::S_IFMT == libc::S_IFIFO;
            if is_pipe || libc::isatty(stream) == 1 {
                libc::fchown(stream, account.uid, libc::gid_t::MAX);
            }
        }
        let groups = &account.groups;
        let (uid, gid) = (account.uid, account.gid);
        if libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) != 0
            || libc::syscall(libc::SYS_setresgid, gid, gid, gid) != 0
            || libc::syscall(libc::SYS_setresuid, uid, uid, uid) != 0
        {
            return Err(*libc::__errno_location());
        }
    }
    Ok(())
}

/// Once memory runs out, the kernel kills commands and not the agent.
fn raise_oom_score() {
    // SAFETY: the path ends in NUL, and the kernel reads the score within its length. The descriptor is this
    // function's own.
    unsafe {
        let fd = libc::open(
            c"/proc/self/oom_score_adj".as_ptr(),
            libc::O_WRONLY | libc::O_CLOEXEC,
        );
        if fd >= 0 {
            libc::write(fd, OOM_SCORE_ADJ.as_ptr().cast(), OOM_SCORE_ADJ.len());
            libc::close(fd);
        }
    }
}

/// A program inherits ignored and blocked signals. The agent ignores SIGPIPE alone (`init/boot.rs`), and blocks all.
fn restore_signals() {
    // SAFETY: SIG_DFL is no function of this program, and sigemptyset fills the set before the kernel reads it.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

fn child_signals() -> i32 {
    // SAFETY: sigemptyset fills the set before anything reads it.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    }
}

/// Moves the descriptors to high numbers and closes all others: a copy of a connection kept here would hide
/// its end from the host.
///
/// # Safety
/// No owner of a descriptor of this process acts after this.
unsafe fn keep_only(descriptors: Descriptors) -> Descriptors {
    // SAFETY: a duplicate is a new number, and no memory is touched.
    let high = |fd| unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, FIRST_FREE_FD) };
    let mut kept = Descriptors {
        channel: high(descriptors.channel),
        stdin: high(descriptors.stdin),
        stdout: high(descriptors.stdout),
        stderr: high(descriptors.stderr),
        ..descriptors
    };
    let mut all = [kept.channel, kept.stdin, kept.stdout, kept.stderr, -1, -1];
    for index in 0..kept.extra_count {
        kept.extra[index] = high(descriptors.extra[index]);
        all[4 + index] = kept.extra[index];
    }
    // SAFETY: the caller promises the same of this function.
    unsafe { close_all_but(&mut all) };
    kept
}

/// # Safety
/// No owner of a descriptor that is not kept acts after this.
unsafe fn close_all_but(kept: &mut [i32]) {
    kept.sort_unstable();
    let mut next = 0;
    for fd in kept.iter().copied().filter(|fd| *fd >= 0) {
        if fd > next {
            // SAFETY: the caller answers for the owners of what is closed.
            unsafe { libc::syscall(libc::SYS_close_range, next, fd - 1, 0) };
        }
        next = fd + 1;
    }
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_close_range, next, libc::c_uint::MAX, 0) };
}

fn report(channel: i32, kind: Report, number: i32) {
    let message = kind.encode(number);
    // SAFETY: the kernel reads the message within its length.
    unsafe {
        libc::send(
            channel,
            message.as_ptr().cast(),
            message.len(),
            libc::MSG_NOSIGNAL,
        );
    }
}
