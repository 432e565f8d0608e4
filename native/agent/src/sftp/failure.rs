//! The refusal of a request, as a status of the protocol.

use rustix::io::Errno;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Status {
    Ok = 0,
    Eof = 1,
    NoSuchFile = 2,
    PermissionDenied = 3,
    Failure = 4,
    BadMessage = 5,
    Unsupported = 8,
}

#[derive(Debug)]
pub struct Failure {
    pub status: Status,
    pub text: String,
}

impl Failure {
    pub fn new(status: Status, text: &str) -> Self {
        Self {
            status,
            text: text.to_owned(),
        }
    }

    pub fn unknown_handle() -> Self {
        Self::new(Status::Failure, "There is no such handle")
    }
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        let status = match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => Status::NoSuchFile,
            Errno::PERM | Errno::ACCESS | Errno::ROFS => Status::PermissionDenied,
            Errno::NOSYS | Errno::OPNOTSUPP => Status::Unsupported,
            _ => Status::Failure,
        };
        let text = errno.to_string();
        // The errno has no meaning outside of the sandbox.
        let plain = text.split(" (os error").next().unwrap_or(&text);
        Self::new(status, plain)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.raw_os_error() {
            Some(raw) => Errno::from_raw_os_error(raw).into(),
            None => Self::new(Status::Failure, &error.to_string()),
        }
    }
}
