//! The error that goes to the host, and its construction from the kernel's errors.

use rustix::io::Errno;
use serde::Serialize;

use super::resource::Resource;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    InvalidArgument,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    FailedPrecondition,
    TooLarge,
    ResourceExhausted,
    /// The operation ran out of its own time.
    Timeout,
    Unavailable,
    Internal,
}

#[derive(Clone, Debug, Serialize)]
pub struct Fault {
    pub code: Code,
    /// Description of the error.
    pub detail: String,
    /// Next step for the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
    /// The request's field at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<&'static str>,
    /// Kind of the resource that it concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<Resource>,
}

/// The remaining remedy when no program can be started: tools that need no process of the sandbox.
pub const END_PROCESSES: &str =
    "End all of its processes: Sandbox.StopSandbox, then Sandbox.StartSandbox. Its files stay.";

impl Fault {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            hint: None,
            parameter: None,
            resource: None,
        }
    }

    pub fn invalid(parameter: &'static str, detail: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, detail).parameter(parameter)
    }

    pub fn not_found(resource: Resource, detail: impl Into<String>) -> Self {
        Self {
            resource: Some(resource),
            ..Self::new(Code::NotFound, detail)
        }
    }

    pub fn hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    pub fn parameter(mut self, parameter: &'static str) -> Self {
        self.parameter = Some(parameter);
        self
    }

    pub fn resource(mut self, resource: Resource) -> Self {
        self.resource = Some(resource);
        self
    }

    /// Explains a failed system call on `subject`, as the caller spelled it.
    pub fn from_errno(errno: Errno, subject: &str) -> Self {
        let quoted = format!("'{subject}'");
        match errno {
            Errno::NOENT | Errno::NOTDIR => {
                Self::not_found(Resource::File, format!("{quoted} does not exist."))
                    .hint("Look with Sandbox.ListFiles or Sandbox.FindFiles.")
            }
            Errno::ACCESS | Errno::PERM => Self::new(
                Code::PermissionDenied,
                format!("The sandbox's file system refuses access to {quoted}."),
            ),
            Errno::ROFS => Self::new(
                Code::PermissionDenied,
                format!("{quoted} is on a read-only file system."),
            ),
            Errno::EXIST => Self::new(Code::AlreadyExists, format!("{quoted} already exists.")),
            Errno::NOTEMPTY => Self::new(
                Code::FailedPrecondition,
                format!("The folder {quoted} is not empty."),
            ),
            Errno::BUSY | Errno::TXTBSY => Self::new(
                Code::FailedPrecondition,
                format!("{quoted} is in use by the system."),
            ),
            Errno::NOSPC | Errno::DQUOT => Self::new(
                Code::ResourceExhausted,
                "The sandbox's disk is full.".to_owned(),
            )
            .hint(
                "Delete files, or stop the sandbox and grow its disk with Sandbox.ResizeSandbox.",
            ),
            Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN => Self::new(
                Code::ResourceExhausted,
                format!("The sandbox has no memory, processes or descriptors left for {quoted}."),
            )
            .hint(END_PROCESSES),
            Errno::NAMETOOLONG => Self::invalid("path", format!("The name {quoted} is too long.")),
            Errno::LOOP => Self::invalid("path", format!("{quoted} has too many symbolic links.")),
            Errno::INVAL => Self::invalid(
                "path",
                format!("The sandbox's file system does not accept {quoted}."),
            ),
            Errno::ISDIR => Self::invalid("path", format!("{quoted} is a folder.")),
            Errno::FBIG => Self::new(Code::TooLarge, format!("{quoted} would be too large.")),
            other => Self::new(
                Code::FailedPrecondition,
                format!("The sandbox's system fails on {quoted}: {other}."),
            ),
        }
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        match error.raw_os_error() {
            Some(raw) => Self::from_errno(Errno::from_raw_os_error(raw), "the system"),
            None => Self::new(Code::Internal, error.to_string()),
        }
    }
}

/// Runs `call` and names `subject` when it fails.
pub trait OrFault<T> {
    fn or_fault(self, subject: &str) -> Result<T, Fault>;
}

impl<T> OrFault<T> for rustix::io::Result<T> {
    fn or_fault(self, subject: &str) -> Result<T, Fault> {
        self.map_err(|errno| Fault::from_errno(errno, subject))
    }
}
