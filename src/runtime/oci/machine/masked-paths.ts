/**
 * Paths of /proc and /sys that a machine does not see: beside the usual, what names other machines' disks, what counts what
 * the host and all machines do together, and how the host was booted. What is not there on a host is passed over; what
 * only the host's root may read is not listed, since each entry is a mount and takes its time at every start.
 *
 * What common programs read stays, although it is of the whole host: /proc/vmstat, loadavg, uptime and devices, and
 * /proc/cgroups, by which JVMs find theirs.
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
