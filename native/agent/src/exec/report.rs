//! The reports of a supervisor to the agent: a message on their channel has an event and its number.

pub const REPORT_BYTES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Report {
    /// With the command's process id. The command's own process reports it, since it may kill the supervisor
    /// at once. A failure may still follow.
    Started = 1,
    /// No process could be made; with errno.
    ForkFailed = 2,
    /// With errno.
    CwdFailed = 3,
    /// With errno.
    ExecFailed = 4,
    /// The command has ended; with the wait status.
    Exited = 5,
    /// The tree is gone; with 1 when some process did not end.
    Killed = 6,
    /// The program runs, so no failure follows. Reported for commands that are `announced`.
    Running = 7,
    /// The command cannot run as its user; with errno.
    UserFailed = 8,
}

impl Report {
    pub fn parse(bytes: [u8; REPORT_BYTES]) -> Option<(Self, i32)> {
        let [a, b, c, d, e, f, g, h] = bytes;
        let kind = i32::from_le_bytes([a, b, c, d]);
        let report = [
            Self::Started,
            Self::ForkFailed,
            Self::CwdFailed,
            Self::ExecFailed,
            Self::Exited,
            Self::Killed,
            Self::Running,
            Self::UserFailed,
        ]
        .into_iter()
        .find(|report| *report as i32 == kind)?;
        Some((report, i32::from_le_bytes([e, f, g, h])))
    }

    pub fn encode(self, number: i32) -> [u8; REPORT_BYTES] {
        let mut message = [0; REPORT_BYTES];
        message[..4].copy_from_slice(&(self as i32).to_le_bytes());
        message[4..].copy_from_slice(&number.to_le_bytes());
        message
    }
}
