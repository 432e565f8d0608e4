//! Failures of the unpacker: one line on standard error, and an exit status for each kind.

use rustix::io::Errno;
use std::process::ExitCode;

/// Kind of a failure: it alone decides the service's error. src/runtime/images/unpack.ts has the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A limit was exceeded.
    TooLarge = 10,
    /// The image cannot be unpacked: it is damaged or malicious.
    Unusable = 11,
    /// The host's disk.
    NoSpace = 12,
    /// A layer's file does not match its digest: it was damaged on this host.
    WrongDigest = 13,
    /// A fault of this program or of the host.
    Internal = 20,
}

#[derive(Debug)]
pub struct Failure {
    pub kind: Kind,
    pub message: String,
}

impl Failure {
    pub fn new(kind: Kind, message: impl Into<String>) -> Failure {
        let message = message.into();
        Failure { kind, message }
    }

    pub fn report(self) -> ExitCode {
        eprintln!("{}", self.message);
        ExitCode::from(self.kind as u8)
    }
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Failure::new(Kind::Internal, error.to_string())
    }
}

pub fn unusable(message: impl Into<String>) -> Failure {
    Failure::new(Kind::Unusable, message)
}

pub fn too_large(message: impl Into<String>) -> Failure {
    Failure::new(Kind::TooLarge, message)
}

/// Names the step that failed, so that one line is enough to find it.
pub trait Step<T> {
    fn step(self, name: &str) -> Result<T, Failure>;
    /// As `step`, for work on an entry: a refusal of its name or attributes by the kernel is the image's fault.
    fn on(self, path: &[u8]) -> Result<T, Failure>;
}

impl<T> Step<T> for Result<T, Errno> {
    fn step(self, name: &str) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(kind_of(error), format!("{name}: {error}")))
    }

    fn on(self, path: &[u8]) -> Result<T, Failure> {
        self.map_err(|error| {
            let kind = match error {
                Errno::NAMETOOLONG
                | Errno::INVAL
                | Errno::LOOP
                | Errno::NOENT
                | Errno::NOTDIR
                | Errno::EXIST
                | Errno::MLINK
                | Errno::PERM
                | Errno::TOOBIG
                | Errno::RANGE
                | Errno::ILSEQ => Kind::Unusable,
                other => kind_of(other),
            };
            Failure::new(kind, format!("{}: {error}", shown(path)))
        })
    }
}

fn kind_of(error: Errno) -> Kind {
    match error {
        Errno::NOSPC | Errno::DQUOT => Kind::NoSpace,
        _ => Kind::Internal,
    }
}

const SHOWN_BYTES: usize = 100;

/// A path of the image, fit for one line of a message.
pub fn shown(path: &[u8]) -> String {
    let cut = &path[..path.len().min(SHOWN_BYTES)];
    let rest = if path.len() > SHOWN_BYTES { "…" } else { "" };
    format!("'{}{rest}'", cut.escape_ascii())
}
