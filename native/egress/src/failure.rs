//! Failures that end the program: one line on standard error.

use std::process::ExitCode;

pub struct Failure(String);

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Failure(message.into())
    }

    pub fn report(self) -> ExitCode {
        eprintln!("sandhaven-egress: {}", self.0);
        ExitCode::FAILURE
    }
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Failure(error.to_string())
    }
}

/// Names the step that failed, so that one line is enough to find it.
pub trait Step<T> {
    fn step(self, name: &str) -> Result<T, Failure>;
}

impl<T, E: Into<std::io::Error>> Step<T> for Result<T, E> {
    fn step(self, name: &str) -> Result<T, Failure> {
        self.map_err(|error| Failure(format!("{name}: {}", error.into())))
    }
}
