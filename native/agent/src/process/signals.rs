//! Signals by name: the numbers differ between architectures.

use serde::Serialize;

use crate::exec::ending;

/// Without SIG.
const NAMES: [(&str, i32); 31] = [
    ("HUP", libc::SIGHUP),
    ("INT", libc::SIGINT),
    ("QUIT", libc::SIGQUIT),
    ("ILL", libc::SIGILL),
    ("TRAP", libc::SIGTRAP),
    ("ABRT", libc::SIGABRT),
    ("BUS", libc::SIGBUS),
    ("FPE", libc::SIGFPE),
    ("KILL", libc::SIGKILL),
    ("USR1", libc::SIGUSR1),
    ("SEGV", libc::SIGSEGV),
    ("USR2", libc::SIGUSR2),
    ("PIPE", libc::SIGPIPE),
    ("ALRM", libc::SIGALRM),
    ("TERM", libc::SIGTERM),
    ("STKFLT", libc::SIGSTKFLT),
    ("CHLD", libc::SIGCHLD),
    ("CONT", libc::SIGCONT),
    ("STOP", libc::SIGSTOP),
    ("TSTP", libc::SIGTSTP),
    ("TTIN", libc::SIGTTIN),
    ("TTOU", libc::SIGTTOU),
    ("URG", libc::SIGURG),
    ("XCPU", libc::SIGXCPU),
    ("XFSZ", libc::SIGXFSZ),
    ("VTALRM", libc::SIGVTALRM),
    ("PROF", libc::SIGPROF),
    ("WINCH", libc::SIGWINCH),
    ("IO", libc::SIGIO),
    ("PWR", libc::SIGPWR),
    ("SYS", libc::SIGSYS),
];

/// Parses a name with or without SIG; None for an unknown name.
pub fn number(name: &str) -> Option<i32> {
    let plain = name.strip_prefix("SIG").unwrap_or(name);
    NAMES
        .iter()
        .find(|(known, _)| *known == plain)
        .map(|(_, number)| *number)
}

/// Returns the name with SIG. Signals without a name are counted from the first real-time signal, as in the
/// shell, so that no two signals share a name.
pub fn name(number: i32) -> String {
    NAMES
        .iter()
        .find(|(_, known)| *known == number)
        .map_or_else(
            || format!("SIGRTMIN+{}", number - libc::SIGRTMIN()),
            |(name, _)| format!("SIG{name}"),
        )
}

/// The end of a program, as the host gets it.
#[derive(Clone, Serialize)]
pub struct End {
    exit_code: i32,
    signal: Option<String>,
}

impl End {
    /// @param status The program's wait status.
    pub fn of(status: i32) -> Self {
        Self {
            exit_code: ending::exit_code(status),
            signal: ending::signal(status).map(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_numbers_and_back() {
        for (known, value) in NAMES {
            assert_eq!(number(known), Some(value));
            assert_eq!(number(&name(value)), Some(value));
        }
        assert_eq!(number("SIGNOTHING"), None);
        assert_eq!(number(""), None);
        assert_eq!(name(libc::SIGRTMIN() + 3), "SIGRTMIN+3");
    }
}
