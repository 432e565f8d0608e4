/**
 * Paths of /proc and /sys hidden from a machine: beside the usual ones, files that name other machines' disks, files
 * that count the work of the host and all machines, and the host's boot parameters. runc skips paths that a host lacks.
 * Files that only the host's root may read are not listed, since each entry is a mount and costs time at every start.
 *
 * Files that common programs read stay visible, although they cover the whole host: /proc/vmstat, loadavg, uptime and
 * devices, and /proc/cgroups, by which JVMs find their cgroup.
 */
export const MASKED_PATHS = [
  ...proc(`
    acpi asound fs kcore keys latency_stats sched_debug scsi timer_list timer_stats
    cmdline diskstats locks modules partitions swaps
    buddyinfo interrupts key-users pressure schedstat softirqs zoneinfo
    sys/fs/aio-nr sys/fs/dentry-state sys/fs/file-nr sys/fs/inode-nr sys/fs/inode-state sys/kernel/pty/nr
  `),
  '/sys/block',
  '/sys/class/block',
  '/sys/dev/block',
  '/sys/devices/virtual/block',
  '/sys/devices/virtual/powercap',
  '/sys/firmware',
];

function proc(names: string): string[] {
  return names
    .trim()
    .split(/\s+/)
    .map((name) => `/proc/${name}`);
}
