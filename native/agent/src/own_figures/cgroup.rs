//! The limits and the use of this sandbox, as the kernel has them: in the cgroup that is mounted read-only inside.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

const ROOT: &str = "/sys/fs/cgroup";
/// More than the kernel says in one of the files.
const FILE_BYTES: usize = 16 << 10;

pub struct Cgroup {
    version: Version,
    /// Open since they were first read: a look comes before many a request.
    files: RefCell<BTreeMap<String, File>>,
    /// Room for what is read.
    text: RefCell<Vec<u8>>,
    /// The machine's memory, which is the limit where there is none below it.
    machine_bytes: u64,
}

/// The version of cgroups, which decides what files say it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Version {
    V1,
    V2,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    pub memory_bytes: u64,
    /// Rounded up: the kernel divides time and not processors.
    pub cpus: u64,
}

#[derive(Debug, Default, PartialEq)]
pub struct Figures {
    pub limits: Limits,
    pub memory: Memory,
    pub user: Duration,
    pub system: Duration,
}

/// In bytes.
#[derive(Debug, Default, PartialEq)]
pub struct Memory {
    pub used: u64,
    pub anon: u64,
    pub file: u64,
    pub shmem: u64,
    pub mapped: u64,
    pub dirty: u64,
    pub writeback: u64,
    pub active_anon: u64,
    pub inactive_anon: u64,
    pub active_file: u64,
    pub inactive_file: u64,
    pub unevictable: u64,
    pub slab_reclaimable: u64,
    pub slab_unreclaimable: u64,
}

impl Figures {
    pub fn used(&self) -> Duration {
        self.user + self.system
    }
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

    /// None where the kernel says less than this needs.
    pub fn limits(&self) -> Option<Limits> {
        self.version
            .parse_limits(&|path| self.read(path), self.machine_bytes)
    }

    /// As `limits`.
    pub fn figures(&self) -> Option<Figures> {
        self.version
            .parse(&|path| self.read(path), self.machine_bytes)
    }

    /// The kernel says it anew whenever it is read from the start, and all at once.
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

impl Version {
    fn parse_limits(
        self,
        file: &dyn Fn(&str) -> Option<String>,
        machine_bytes: u64,
    ) -> Option<Limits> {
        let at_most_all =
            |limit: Option<u64>| limit.map_or(machine_bytes, |it| it.min(machine_bytes));
        let number = |path: &str| file(path)?.trim().parse().ok();
        match self {
            Self::V1 => Some(Limits {
                memory_bytes: at_most_all(number("memory/memory.limit_in_bytes")),
                // Without a quota it is -1, which is no u64.
                cpus: processors(
                    number("cpu/cpu.cfs_quota_us"),
                    number("cpu/cpu.cfs_period_us")?,
                ),
            }),
            Self::V2 => {
                let max = file("cpu.max")?;
                let (quota, period) = max.trim().split_once(' ')?;
                Some(Limits {
                    memory_bytes: at_most_all(number("memory.max")),
                    cpus: processors(quota.parse().ok(), period.parse().ok()?),
                })
            }
        }
    }

    fn parse(self, file: &dyn Fn(&str) -> Option<String>, machine_bytes: u64) -> Option<Figures> {
        let number = |path: &str| file(path)?.trim().parse().ok();
        let limits = self.parse_limits(file, machine_bytes)?;
        match self {
            Self::V1 => Some(Figures {
                limits,
                memory: Memory {
                    used: number("memory/memory.usage_in_bytes")?,
                    ..memory_v1(&file("memory/memory.stat")?)
                },
                user: Duration::from_nanos(number("cpuacct/cpuacct.usage_user")?),
                system: Duration::from_nanos(number("cpuacct/cpuacct.usage_sys")?),
            }),
            Self::V2 => {
                let time = file("cpu.stat")?;
                Some(Figures {
                    limits,
                    memory: Memory {
                        used: number("memory.current")?,
                        ..memory_v2(&file("memory.stat")?)
                    },
                    user: Duration::from_micros(value(&time, "user_usec")),
                    system: Duration::from_micros(value(&time, "system_usec")),
                })
            }
        }
    }
}

/// `total_…` are those of the group with all groups below it.
fn memory_v1(stat: &str) -> Memory {
    let of = |name: &str| value(stat, &format!("total_{name}"));
    Memory {
        anon: of("rss"),
        file: of("cache"),
        shmem: of("shmem"),
        mapped: of("mapped_file"),
        dirty: of("dirty"),
        writeback: of("writeback"),
        active_anon: of("active_anon"),
        inactive_anon: of("inactive_anon"),
        active_file: of("active_file"),
        inactive_file: of("inactive_file"),
        unevictable: of("unevictable"),
        ..Memory::default()
    }
}

fn memory_v2(stat: &str) -> Memory {
    let of = |name: &str| value(stat, name);
    Memory {
        anon: of("anon"),
        file: of("file"),
        shmem: of("shmem"),
        mapped: of("file_mapped"),
        dirty: of("file_dirty"),
        writeback: of("file_writeback"),
        active_anon: of("active_anon"),
        inactive_anon: of("inactive_anon"),
        active_file: of("active_file"),
        inactive_file: of("inactive_file"),
        unevictable: of("unevictable"),
        slab_reclaimable: of("slab_reclaimable"),
        slab_unreclaimable: of("slab_unreclaimable"),
        ..Memory::default()
    }
}

/// Of a line `NAME NUMBER`; 0 where there is none.
fn value(stat: &str, name: &str) -> u64 {
    stat.lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(key, _)| *key == name)
        .and_then(|(_, number)| number.parse().ok())
        .unwrap_or(0)
}

fn machine_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    info.totalram.saturating_mul(u64::from(info.mem_unit))
}

fn processors(quota_us: Option<u64>, period_us: u64) -> u64 {
    quota_us.map_or_else(
        || std::thread::available_parallelism().map_or(1, |count| count.get() as u64),
        |quota| quota.div_ceil(period_us.max(1)).max(1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE_BYTES: u64 = 4 << 30;

    fn parse(version: Version, files: &[(&str, &str)]) -> Option<Figures> {
        let read = |path: &str| {
            let (_, text) = files.iter().find(|(name, _)| *name == path)?;
            Some((*text).to_owned())
        };
        version.parse(&read, MACHINE_BYTES)
    }

    #[test]
    fn version_1_says_it_in_three_hierarchies() {
        let figures = parse(
            Version::V1,
            &[
                ("memory/memory.limit_in_bytes", "1048576\n"),
                ("memory/memory.usage_in_bytes", "524288\n"),
                (
                    "memory/memory.stat",
                    "cache 1\nrss 2\ntotal_cache 8192\ntotal_rss 4096\ntotal_inactive_file 12288\n",
                ),
                ("cpu/cpu.cfs_quota_us", "150000\n"),
                ("cpu/cpu.cfs_period_us", "100000\n"),
                ("cpuacct/cpuacct.usage_user", "1500000000\n"),
                ("cpuacct/cpuacct.usage_sys", "250000000\n"),
            ],
        );
        let expected = Figures {
            limits: Limits {
                memory_bytes: 1_048_576,
                cpus: 2,
            },
            memory: Memory {
                used: 524_288,
                anon: 4096,
                file: 8192,
                inactive_file: 12_288,
                ..Memory::default()
            },
            user: Duration::from_millis(1500),
            system: Duration::from_millis(250),
        };
        assert_eq!(figures, Some(expected));
    }

    #[test]
    fn version_2_says_it_in_one() {
        let figures = parse(
            Version::V2,
            &[
                ("memory.max", "1048576\n"),
                ("memory.current", "524288\n"),
                (
                    "memory.stat",
                    "anon 4096\nfile 8192\nslab_reclaimable 16384\n",
                ),
                ("cpu.max", "400000 100000\n"),
                (
                    "cpu.stat",
                    "usage_usec 3\nuser_usec 1000000\nsystem_usec 2\n",
                ),
            ],
        );
        let expected = Figures {
            limits: Limits {
                memory_bytes: 1_048_576,
                cpus: 4,
            },
            memory: Memory {
                used: 524_288,
                anon: 4096,
                file: 8192,
                slab_reclaimable: 16_384,
                ..Memory::default()
            },
            user: Duration::from_secs(1),
            system: Duration::from_micros(2),
        };
        assert_eq!(figures, Some(expected));
    }

    #[test]
    fn without_a_limit_it_is_what_the_machine_has() {
        let memory = |max: &'static str| {
            let files = [
                ("memory.max", max),
                ("memory.current", "1\n"),
                ("memory.stat", ""),
                ("cpu.max", "max 100000\n"),
                ("cpu.stat", ""),
            ];
            parse(Version::V2, &files).map(|figures| figures.limits.memory_bytes)
        };
        assert_eq!(memory("max\n"), Some(4_294_967_296));
        assert_eq!(memory("8589934592\n"), Some(4_294_967_296));
        assert_eq!(memory("1048576\n"), Some(1_048_576));
    }

    #[test]
    fn what_the_kernel_does_not_say_is_not_made_up() {
        assert_eq!(parse(Version::V1, &[]), None);
        assert_eq!(parse(Version::V2, &[("memory.max", "1")]), None);
    }
}
