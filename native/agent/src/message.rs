//! The JSON of requests. Every bound that the host can tune travels with the request; the agent's own
//! ceilings hold whatever it says.

use serde::Deserialize;
use std::collections::BTreeMap;

use crate::{process, search, session, tunnel};

/// The newest protocol version that this agent speaks; it speaks all from 1 on.
pub const PROTOCOL_VERSION: u32 = 3;

/// Each area of the agent states its own requests.
pub enum Request {
    Core(Core),
    Process(process::Request),
    Search(search::Request),
    Session(session::Request),
    Tunnel(tunnel::Request),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Core {
    Hello {
        versions: Vec<u32>,
        sandbox_id: String,
        generation: u64,
    },
    Watch {
        v: u32,
    },
    Exec(Exec),
    StartBackground(StartBackground),
    RunCode(RunCode),
    List(Query),
    Find(Query),
    Stat {
        v: u32,
        path: String,
    },
    Read {
        v: u32,
        path: String,
        start_line: Option<u64>,
        end_line: Option<u64>,
        /// Of the selected part.
        max_bytes: u64,
    },
    ReadStream {
        v: u32,
        path: String,
        start: Option<u64>,
        /// Inclusive.
        end: Option<u64>,
        /// Of a file that the kernel makes up as it is read.
        max_unsized_bytes: u64,
    },
    /// Data and `end` follow.
    Write {
        v: u32,
        path: String,
        create_parents: bool,
        mode: Option<u32>,
        /// Since version 3.
        #[serde(default)]
        durable: bool,
        /// Since version 3: the file must not be there yet, and lie beneath this folder wherever links lead.
        new_beneath: Option<String>,
    },
    Mkdir {
        v: u32,
        path: String,
        mode: u32,
    },
    Move {
        v: u32,
        source: String,
        destination: String,
    },
    Remove {
        v: u32,
        path: String,
        recursive: bool,
    },
}

impl Request {
    pub fn parse(payload: &[u8]) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        struct Head<'a> {
            op: &'a str,
        }
        let head: Head = serde_json::from_slice(payload)?;
        Ok(match head.op {
            "process" | "sftp" => Self::Process(serde_json::from_slice(payload)?),
            "search" | "replace" => Self::Search(serde_json::from_slice(payload)?),
            "tcp" | "listen" | "accept" | "ports" => Self::Tunnel(serde_json::from_slice(payload)?),
            op if op.starts_with("session_") => Self::Session(serde_json::from_slice(payload)?),
            _ => Self::Core(serde_json::from_slice(payload)?),
        })
    }

    /// None for hello, which agrees on the version.
    pub fn version(&self) -> Option<u32> {
        match self {
            Self::Core(request) => request.version(),
            Self::Process(request) => Some(request.version()),
            Self::Search(request) => Some(request.version()),
            Self::Session(request) => Some(request.version()),
            Self::Tunnel(request) => Some(request.version()),
        }
    }

    /// Whether the answer, or a program that it starts, may show what the kernel says of memory and processors.
    pub fn may_show_figures(&self) -> bool {
        match self {
            Self::Core(Core::Exec(_) | Core::StartBackground(_) | Core::RunCode(_)) => true,
            Self::Core(Core::Read { path, .. } | Core::ReadStream { path, .. }) => {
                names_a_file_of_the_kernel(path)
            }
            Self::Core(_) => false,
            Self::Process(_) | Self::Session(_) => true,
            Self::Search(_) | Self::Tunnel(_) => false,
        }
    }

    /// The version that knows of this operation first.
    pub fn since(&self) -> u32 {
        match self {
            Self::Core(_) => 1,
            Self::Session(request) => request.since(),
            _ => 2,
        }
    }
}

/// However the path is spelled; not by a link that has another name.
fn names_a_file_of_the_kernel(path: &str) -> bool {
    path.contains("proc/") || path.contains("sys/")
}

impl Core {
    fn version(&self) -> Option<u32> {
        match self {
            Self::Hello { .. } => None,
            Self::Exec(Exec { v, .. })
            | Self::StartBackground(StartBackground { v, .. })
            | Self::RunCode(RunCode { v, .. })
            | Self::List(Query { v, .. })
            | Self::Find(Query { v, .. })
            | Self::Watch { v }
            | Self::Stat { v, .. }
            | Self::Read { v, .. }
            | Self::ReadStream { v, .. }
            | Self::Write { v, .. }
            | Self::Mkdir { v, .. }
            | Self::Move { v, .. }
            | Self::Remove { v, .. } => Some(*v),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exec {
    pub v: u32,
    pub argv: Vec<String>,
    pub cwd: String,
    pub env: BTreeMap<String, String>,
    pub timeout_ms: u64,
    /// Kept of each stream.
    pub output_bytes: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartBackground {
    pub v: u32,
    pub argv: Vec<String>,
    pub cwd: String,
    pub env: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    Python,
    Typescript,
    Javascript,
}

/// The code follows as data and `end`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunCode {
    pub v: u32,
    pub language: Language,
    pub env: BTreeMap<String, String>,
    pub timeout_ms: u64,
    /// Kept of each stream.
    pub output_bytes: usize,
    pub max_charts: usize,
    /// Of one chart's picture.
    pub chart_bytes: usize,
    /// Of all pictures together.
    pub charts_total_bytes: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    pub v: u32,
    pub path: String,
    pub pattern: Option<String>,
    pub max_items: usize,
    pub offset: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_kernel_are_told_by_their_paths() {
        for path in [
            "/proc/meminfo",
            "//proc//stat",
            "../proc/cpuinfo",
            "/sys/devices/system/cpu/online",
        ] {
            assert!(names_a_file_of_the_kernel(path), "{path}");
        }
        for path in ["/workspace/a", "notes", "/etc/hosts"] {
            assert!(!names_a_file_of_the_kernel(path), "{path}");
        }
    }
}
