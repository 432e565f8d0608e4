//! The steps of PID 1, up to the agent. No program of the image runs before the last of them.

use super::opened::Opened;
use super::report::Reporter;
use super::settings::{AGENT, Settings};
use super::{privileges, root, stdio};
use crate::failure::{Failure, Step};
use rustix::fs::Mode;
use rustix::process::{setsid, umask};
use rustix::system::sethostname;
use rustix::thread::{CpuSet, UnshareFlags, sched_setaffinity};
use std::convert::Infallible;
use std::ffi::{CString, OsStr};
use std::io::Error;
use std::os::unix::ffi::OsStrExt;

const ENVIRONMENT: [&str; 2] = [
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME=/root",
];

pub fn execute(
    settings: &Settings,
    opened: Opened,
    reporter: &Reporter,
) -> Result<Infallible, Failure> {
    // Comes first: a removal of the machine finds this process in the groups, or stops it here.
    opened.groups.enter()?;
    setsid().step("begin a session")?;
    use_all_processors()?;
    privileges::become_root()?;
    // SAFETY: this process has one thread, so no other loses what it shares with this one.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWCGROUP | UnshareFlags::NEWIPC) }
        .step("make namespaces of cgroups and of queues")?;
    privileges::leave_keyring()?;
    sethostname(settings.id.as_bytes()).step("name the machine")?;
    umask(Mode::empty());
    let null = root::enter(settings, opened.shown)?;
    umask(Mode::from_raw_mode(0o022));
    let program = Program::new(settings)?;
    stdio::arrange(null, opened.listener)?;
    privileges::confine()?;
    reporter.ready()?;
    Err(program.execute()).step(format!("execute {AGENT}"))
}

/// The service may be bound to some processors, but a machine has those of its cpuset.
fn use_all_processors() -> Result<(), Failure> {
    let mut all = CpuSet::new();
    for processor in 0..CpuSet::MAX_CPU {
        all.set(processor);
    }
    sched_setaffinity(None, &all).step("use all processors")
}

struct Program {
    path: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
}

impl Program {
    fn new(settings: &Settings) -> Result<Self, Failure> {
        let generation = settings.generation.to_string();
        let arguments = [
            AGENT,
            "--sandbox-id",
            &settings.id,
            "--generation",
            &generation,
        ];
        Ok(Program {
            path: terminated(AGENT)?,
            arguments: arguments
                .into_iter()
                .map(terminated)
                .collect::<Result<_, _>>()?,
            environment: ENVIRONMENT
                .into_iter()
                .map(terminated)
                .collect::<Result<_, _>>()?,
        })
    }

    /// Returns only when it fails.
    fn execute(&self) -> Error {
        let [arguments, environment] = [&self.arguments, &self.environment].map(|texts| {
            let pointers = texts.iter().map(|text| text.as_ptr());
            pointers.chain([std::ptr::null()]).collect::<Vec<_>>()
        });
        // SAFETY: both lists end with a null pointer, and all that they point to outlives the call.
        unsafe { libc::execve(self.path.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
        Error::last_os_error()
    }
}

fn terminated(text: impl AsRef<OsStr>) -> Result<CString, Failure> {
    CString::new(text.as_ref().as_bytes())
        .map_err(Error::from)
        .step("name the program")
}
