//! Failures of the launcher: one line on standard error, and an exit status for each kind.

use std::fmt::Display;
use std::process::ExitCode;

/// Exit statuses of the launcher itself, above those of programs that it executes. The service knows them.
const FAILED: u8 = 120;
const NO_SPACE: u8 = 121;
const LOCKED: u8 = 122;
const USAGE: u8 = 123;

pub struct Failure {
    status: u8,
    message: String,
}

impl Failure {
    pub fn report(self) -> ExitCode {
        eprintln!("sandhaven-launcher: {}", self.message);
        ExitCode::from(self.status)
    }

    /// Encodes the failure for another process of the launcher.
    pub fn encode(&self) -> Vec<u8> {
        [&[self.status], self.message.as_bytes()].concat()
    }

    /// None for an empty text.
    pub fn decode(text: &[u8]) -> Option<Self> {
        let (status, message) = text.split_first()?;
        Some(Failure {
            status: *status,
            message: String::from_utf8_lossy(message).into_owned(),
        })
    }
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        usage(&error.to_string())
    }
}

pub fn usage(message: &str) -> Failure {
    Failure {
        status: USAGE,
        message: message.to_owned(),
    }
}

pub fn failed(message: impl Into<String>) -> Failure {
    Failure {
        status: FAILED,
        message: message.into(),
    }
}

/// The image is in use by a machine or by another helper.
pub fn locked(message: impl Into<String>) -> Failure {
    Failure {
        status: LOCKED,
        message: message.into(),
    }
}

/// Names the step that failed, so that one line is enough to find it.
pub trait Step<T> {
    fn step(self, name: impl Display) -> Result<T, Failure>;
}

impl<T, E: Into<std::io::Error>> Step<T> for Result<T, E> {
    fn step(self, name: impl Display) -> Result<T, Failure> {
        self.map_err(|error| {
            let error: std::io::Error = error.into();
            let status = match error.raw_os_error() {
                Some(libc::ENOSPC | libc::EDQUOT) => NO_SPACE,
                _ => FAILED,
            };
            Failure {
                status,
                message: format!("{name}: {error}"),
            }
        })
    }
}
