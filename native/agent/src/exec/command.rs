//! A command, prepared before the fork: afterwards nothing may be allocated.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::ptr;
use std::sync::Arc;

use crate::files::path_text;
use crate::init::account::Account;
use crate::init::context::Context;
use crate::wire::fault::Fault;

const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Most arguments, with the null at the end.
const MAX_STARTER_ARGV: usize = 16;

/// Most descriptors beside the three standard streams.
pub const MAX_EXTRA_FDS: usize = 2;

pub struct Command {
    strings: Vec<CString>,
    argv: Vec<*const libc::c_char>,
    envp: Vec<*const libc::c_char>,
    /// Possible paths of the program, in the order of the attempts.
    candidates: Vec<CString>,
    /// A program that executes the command, whose path and `argv` it gets as arguments. The command runs
    /// without it where it is missing.
    starter: Option<CString>,
    cwd: CString,
    /// None for a command of root.
    pub account: Option<Arc<Account>>,
    pub stdin: OwnedFd,
    /// `stdin` is a terminal, which becomes the controlling one of the command's session.
    pub terminal: bool,
    /// With `terminal`: the supervisor leads the session, so that other processes get no SIGHUP when the command ends.
    pub outlived: bool,
    /// The supervisor reports when the program runs.
    pub announced: bool,
    /// Descriptors that the command gets as 3, 4 ….
    pub extra: Vec<OwnedFd>,
    pub names: Names,
}

/// Names as the caller spelled them, for errors.
pub struct Names {
    pub program: String,
    pub cwd: String,
}

impl Command {
    pub fn new(
        context: &Context,
        argv: &[String],
        cwd: &str,
        env: &BTreeMap<String, String>,
        stdin: OwnedFd,
    ) -> Result<Self, Fault> {
        let mut env = env.clone();
        if let Some(account) = &context.account {
            account.complete(&mut env);
        }
        let program = argv
            .first()
            .filter(|program| !program.is_empty())
            .ok_or_else(|| Fault::invalid("argv", "The command is empty."))?;
        let mut strings = Vec::with_capacity(argv.len() + env.len());
        for argument in argv {
            strings.push(c_string("argv", argument.as_bytes())?);
        }
        for (name, value) in &env {
            if name.is_empty() || name.contains('=') {
                return Err(Fault::invalid(
                    "env",
                    format!("'{name}' is not the name of a variable."),
                ));
            }
            strings.push(c_string("env", format!("{name}={value}").as_bytes())?);
        }
        let pointers = |strings: &[CString]| {
            strings
                .iter()
                .map(|string| string.as_ptr())
                .chain([ptr::null()])
                .collect::<Vec<_>>()
        };
        let search = env.get("PATH").map_or(DEFAULT_PATH, String::as_str);
        Ok(Self {
            argv: pointers(&strings[..argv.len()]),
            envp: pointers(&strings[argv.len()..]),
            strings,
            candidates: candidates(program, search)?,
            starter: None,
            cwd: c_string("cwd", &context.base.absolute(&path_text::to_bytes(cwd)))?,
            account: context.account.clone(),
            stdin,
            terminal: false,
            outlived: false,
            announced: false,
            extra: Vec::new(),
            names: Names {
                program: program.clone(),
                cwd: cwd.to_owned(),
            },
        })
    }

    /// Runs the agent's own program, whatever name `argv` has.
    pub fn of_agent(mut self) -> Self {
        self.candidates = vec![c"/proc/self/exe".to_owned()];
        self
    }

    /// Runs the command through `starter`, or directly where that program is missing.
    pub fn started_by(mut self, starter: &CStr) -> Self {
        assert!(self.argv.len() + 2 <= MAX_STARTER_ARGV);
        self.starter = Some(starter.to_owned());
        self
    }

    /// Drops the rest: descriptors and environment are the started process's own.
    pub fn into_names(self) -> Names {
        self.names
    }

    pub fn cwd(&self) -> *const libc::c_char {
        self.cwd.as_ptr()
    }

    /// Replaces this process by the program; returns the error when no candidate runs. Async-signal-safe.
    pub fn execute(&self) -> i32 {
        debug_assert_eq!(self.strings.len() + 2, self.argv.len() + self.envp.len());
        let mut failure = libc::ENOENT;
        for candidate in &self.candidates {
            self.start(candidate);
            // SAFETY: the arrays end in null and point into `strings`, which this owns and never changes. The location
            // of errno is this thread's.
            let errno = unsafe {
                libc::execve(candidate.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr());
                *libc::__errno_location()
            };
            match errno {
                libc::ENOENT | libc::ENOTDIR => {}
                libc::EACCES => failure = errno,
                _ => return errno,
            }
        }
        failure
    }

    /// Executes the candidate through the starter. Returns when there is no starter, or when it or the
    /// candidate cannot run.
    fn start(&self, candidate: &CStr) {
        let Some(starter) = &self.starter else { return };
        let mut argv = [ptr::null(); MAX_STARTER_ARGV];
        argv[0] = starter.as_ptr();
        argv[1] = candidate.as_ptr();
        for (place, argument) in argv[2..].iter_mut().zip(&self.argv) {
            *place = *argument;
        }
        if is_program(candidate) {
            // SAFETY: `argv` ends in null, as `started_by` ensures; both arrays point into strings that outlive the call.
            unsafe { libc::execve(starter.as_ptr(), argv.as_ptr(), self.envp.as_ptr()) };
        }
    }
}

/// Async-signal-safe.
fn is_program(path: &CStr) -> bool {
    // SAFETY: the path is a C string, and a zeroed `stat` is a valid one that outlives the call.
    unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        libc::stat(path.as_ptr(), &mut found) == 0
            && found.st_mode & libc::S_IFMT == libc::S_IFREG
            && libc::access(path.as_ptr(), libc::X_OK) == 0
    }
}

/// Lists what execvp would try: the name itself when it has a slash, else each folder of the search path.
fn candidates(program: &str, search: &str) -> Result<Vec<CString>, Fault> {
    if program.contains('/') {
        return Ok(vec![c_string("argv", program.as_bytes())?]);
    }
    search
        .split(':')
        .map(|folder| {
            let folder = if folder.is_empty() { "." } else { folder };
            c_string("argv", format!("{folder}/{program}").as_bytes())
        })
        .collect()
}

fn c_string(parameter: &'static str, bytes: &[u8]) -> Result<CString, Fault> {
    CString::new(bytes).map_err(|_| Fault::invalid(parameter, "A NUL byte cannot be passed on."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_name_is_looked_for_along_the_search_path() {
        let found = candidates("ls", "/bin::/usr/bin").unwrap();
        let expected: Vec<_> = ["/bin/ls", "./ls", "/usr/bin/ls"]
            .map(|path| CString::new(path).unwrap())
            .into();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_name_with_a_slash_is_taken_as_it_is() {
        assert_eq!(
            candidates("./run", "/bin").unwrap(),
            [CString::new("./run").unwrap()]
        );
    }
}
