//! `/proc/meminfo` of a sandbox: its memory limit, and the part in use.

use super::figures::Memory;

/// Writes the text in the kernel's order and layout. `total` is the limit. Values that a cgroup does not
/// count are left out.
pub fn text(total: u64, memory: &Memory) -> String {
    let free = total.saturating_sub(memory.used);
    let lines = [
        ("MemTotal", total),
        ("MemFree", free),
        ("MemAvailable", available(memory, free).min(total)),
        ("Buffers", 0),
        ("Cached", memory.file),
        ("SwapCached", 0),
        ("Active", memory.active_anon + memory.active_file),
        ("Inactive", memory.inactive_anon + memory.inactive_file),
        ("Active(anon)", memory.active_anon),
        ("Inactive(anon)", memory.inactive_anon),
        ("Active(file)", memory.active_file),
        ("Inactive(file)", memory.inactive_file),
        ("Unevictable", memory.unevictable),
        ("Mlocked", 0),
        ("SwapTotal", 0),
        ("SwapFree", 0),
        ("Dirty", memory.dirty),
        ("Writeback", memory.writeback),
        ("AnonPages", memory.anon),
        ("Mapped", memory.mapped),
        ("Shmem", memory.shmem),
        ("KReclaimable", memory.slab_reclaimable),
        ("Slab", memory.slab_reclaimable + memory.slab_unreclaimable),
        ("SReclaimable", memory.slab_reclaimable),
        ("SUnreclaim", memory.slab_unreclaimable),
    ];
    lines
        .iter()
        .map(|(name, bytes)| format!("{:<16}{:>8} kB\n", format!("{name}:"), bytes >> 10))
        .collect()
}

/// Memory that programs can have without swapping, since the kernel reclaims pages of files and slabs.
/// Computed as `si_mem_available` in the kernel's mm/show_mem.c, but without the reserves, which a cgroup
/// does not have.
fn available(memory: &Memory, free: u64) -> u64 {
    let back = memory.active_file + memory.inactive_file + memory.slab_reclaimable;
    free + back
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_laid_out_as_the_kernel_s_own() {
        let memory = Memory {
            used: 256 << 20,
            active_file: 64 << 20,
            inactive_file: 36 << 20,
            ..Memory::default()
        };
        let text = text(1 << 30, &memory);
        let first: Vec<&str> = text.lines().take(3).collect();
        assert_eq!(
            first,
            [
                "MemTotal:        1048576 kB",
                "MemFree:          786432 kB",
                "MemAvailable:     888832 kB",
            ]
        );
    }

    #[test]
    fn more_in_use_than_the_limit_is_nothing_free() {
        let memory = Memory {
            used: 8192,
            ..Memory::default()
        };
        let text = text(4096, &memory);
        assert!(text.contains("MemFree:               0 kB\n"), "{text}");
    }
}
