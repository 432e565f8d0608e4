/**
 * Paths of /proc and /sys hidden from a machine: beside the usual ones, files that name other machines' disks, files
 * that count the work of the host and all machines, and the host's boot parameters. runc skips paths that a host lacks.
 * Files that only the host's root may read are not listed, since each entry is a mount and costs time at every start.
 *
 * Files that common programs read stay visible, although they cover the whole host: /proc/vmstat, loadavg, uptime and
 * devices, and /proc/cgroups, by which JVMs find their cgroup. /proc/net/unix has the sockets of one network namespace, so a
 * machine's own, and /sys/class/net its links.
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
  // One for each disk of each machine, some under the name of the host's device.
  '/sys/class/bdi',
  '/sys/devices/virtual/bdi',
  // Names and numbers of the host's hardware, by which libraries take a machine for the cloud's own.
  '/sys/class/dmi',
  '/sys/devices/virtual/dmi',
  // Measures of the host's work.
  '/sys/class/hwmon',
  '/sys/class/thermal',
  '/sys/devices/virtual/powercap',
  '/sys/devices/virtual/thermal',
  '/sys/devices/virtual/workqueue',
  '/sys/kernel/irq',
  '/sys/firmware',
];

function proc(names: string): string[] {
  return names
    .trim()
    .split(/\s+/)
    .map((name) => `/proc/${name}`);
}
