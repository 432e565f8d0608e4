//! The two versions of cgroups: the names and the contents of their files.

use std::time::Duration;

use super::figures::{Figures, Limits, Memory};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Version {
    V1,
    V2,
}

impl Version {
    pub fn parse_limits(
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

    pub fn parse(
        self,
        file: &dyn Fn(&str) -> Option<String>,
        machine_bytes: u64,
    ) -> Option<Figures> {
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

/// `total_…` counts the group with all groups below it.
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

/// Returns NUMBER of the line `NAME NUMBER`; 0 without one.
fn value(stat: &str, name: &str) -> u64 {
    stat.lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(key, _)| *key == name)
        .and_then(|(_, number)| number.parse().ok())
        .unwrap_or(0)
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
