//! The limits and the use of this sandbox, from the cgroup that is mounted read-only inside.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::os::unix::fs::FileExt;

use super::figures::{Figures, Limits};
use super::version::Version;

const ROOT: &str = "/sys/fs/cgroup";
/// More bytes than any of these files has.
const FILE_BYTES: usize = 16 << 10;

pub struct Cgroup {
    version: Version,
    /// Kept open since their first reading: many requests read them again.
    files: RefCell<BTreeMap<String, File>>,
    /// Buffer for reading.
    text: RefCell<Vec<u8>>,
    /// The machine's memory, which is the limit where there is none below it.
    machine_bytes: u64,
}

impl Cgroup {
    pub fn find() -> Option<Self> {
        let has = |path: &str| std::fs::exists(format!("{ROOT}/{path}")).unwrap_or(false);
        let version = if has("memory.max") {
            Version::V2
        } else {
            has("memory/memory.limit_in_bytes").then_some(Version::V1)?
        };
        Some(Self {
            version,
            files: RefCell::default(),
            text: RefCell::new(vec![0; FILE_BYTES]),
            machine_bytes: machine_bytes(),
        })
    }

    /// None where the kernel's files lack a needed value.
    pub fn limits(&self) -> Option<Limits> {
        self.version
            .parse_limits(&|path| self.read(path), self.machine_bytes)
    }

    /// As `limits`.
    pub fn figures(&self) -> Option<Figures> {
        self.version
            .parse(&|path| self.read(path), self.machine_bytes)
    }

    /// The kernel generates a file anew on each reading from its start, in one piece.
    fn read(&self, path: &str) -> Option<String> {
        let mut files = self.files.borrow_mut();
        let file = match files.entry(path.to_owned()) {
            Entry::Occupied(file) => file.into_mut(),
            Entry::Vacant(place) => place.insert(File::open(format!("{ROOT}/{path}")).ok()?),
        };
        let mut text = self.text.borrow_mut();
        let length = file.read_at(&mut text, 0).ok()?;
        String::from_utf8(text.get(..length)?.to_vec()).ok()
    }
}

/// Number of processes of the sandbox that the kernel has killed for memory; None where it does not count them.
pub fn memory_kills() -> Option<u64> {
    let files = ["memory.events", "memory/memory.oom_control"];
    let read = |file| std::fs::read_to_string(format!("{ROOT}/{file}")).ok();
    let text = files.into_iter().find_map(read)?;
    let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
    count?.trim().parse().ok()
}

fn machine_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    info.totalram.saturating_mul(u64::from(info.mem_unit))
}
