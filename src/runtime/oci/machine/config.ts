/**
 * OCI configuration of one machine. Pure: equal arguments give equal configurations. It holds nothing of the
 * caller's (env vars, names, labels), because it lies on the host's disk and in PID 1's environment.
 */
import { GiB, limits } from '../../../model/limits.ts';
import type { Resources } from '../../../model/sandbox.ts';
import type { DeviceNode, MachineDevices } from '../gpu/device.ts';
import type { Slot } from '../host/plan.ts';
import { MASKED_PATHS } from './masked-paths.ts';
import { seccompRules } from './seccomp.ts';

/** Path of the agent inside a machine: read-only, the same file for every machine of one version. */
export const AGENT_DESTINATION = '/.sandhaven/agent';

/** Files of /etc that the launcher puts into the stage for every machine. */
export const ETC_FILES = ['hosts', 'hostname', 'resolv.conf'] as const;

/** Files of the launcher that show a machine its own memory and processors, each with the path programs read. */
const FIGURES = [
  ['/proc/meminfo', 'meminfo'],
  ['/proc/stat', 'stat'],
  ['/proc/cpuinfo', 'cpuinfo'],
  ['/sys/devices/system/cpu/online', 'cpus'],
  ['/sys/devices/system/cpu/possible', 'cpus'],
] as const;

export interface MachineConfig {
  id: string;
  generation: number;
  /** Folder in which the launcher mounts everything; visible only in the machine's own mount namespace. */
  stagePath: string;
  /** File name of the agent in the stage's file system of agents. */
  agentName: string;
  cgroupPath: string;
  slot: Pick<Slot, 'userNamespacePath' | 'netNamespacePath'>;
  resources: Resources;
  devices: MachineDevices;
  host: HostFacts;
}

/** Facts that differ between hosts. */
export interface HostFacts {
  /** Value of `process.arch`. */
  arch: string;
  /** Version of the hierarchy that limits memory. On v1 the launcher shows a machine its groups, on v2 its runtime does. */
  cgroupVersion: 1 | 2;
  /** True when the kernel can limit swap per cgroup. */
  swapAccounting: boolean;
  /** True when buffers of sockets have a limit of their own, on v1. */
  socketAccounting: boolean;
  /** Hard limit of open files that this host allows a process. */
  maxOpenFiles: number;
}

export function buildConfig(machine: MachineConfig): object {
  const { id, generation, stagePath, slot } = machine;
  return {
    ociVersion: '1.2.0',
    root: { path: `${stagePath}/root`, readonly: false },
    hostname: id,
    mounts: mounts(machine),
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      cwd: '/',
      args: [AGENT_DESTINATION, '--sandbox-id', id, '--generation', String(generation)],
      env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root'],
      capabilities: { bounding: CAPABILITIES, effective: CAPABILITIES, permitted: CAPABILITIES },
      // Set-uid programs inside (sudo, su) work: they gain at most root of their own user namespace.
      noNewPrivileges: false,
      oomScoreAdj: 0,
    },
    linux: {
      namespaces: [
        { type: 'pid' },
        { type: 'ipc' },
        { type: 'uts' },
        { type: 'mount' },
        { type: 'cgroup' },
        { type: 'user', path: slot.userNamespacePath },
        { type: 'network', path: slot.netNamespacePath },
      ],
      cgroupsPath: machine.cgroupPath,
      resources: cgroupResources(machine),
      seccomp: seccompRules(machine.host.arch),
      maskedPaths: MASKED_PATHS,
      readonlyPaths: READONLY_PATHS,
    },
  };
}

/** Bytes and CFS microseconds of a machine's cgroup. */
export function cgroupLimits(resources: Resources): {
  memoryBytes: number;
  cpuQuotaUs: number;
  cpuPeriodUs: number;
} {
  return {
    memoryBytes: resources.memory * GiB,
    cpuQuotaUs: resources.cpu * CPU_PERIOD_US,
    cpuPeriodUs: CPU_PERIOD_US,
  };
}

/** Limits of open files of each process. The launcher sets them, since runc may lack the right. */
export function openFiles({ maxOpenFiles }: HostFacts): { soft: number; hard: number } {
  const hard = Math.min(limits.openFiles.hard, maxOpenFiles);
  return { soft: Math.min(limits.openFiles.soft, hard), hard };
}

const CPU_PERIOD_US = 100_000;

/** No SYS_ADMIN, SYS_PTRACE, NET_ADMIN, NET_RAW, MKNOD, AUDIT_WRITE … — enough for apt, pip, su and low ports. */
const CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'SETUID',
  'SETGID',
  'SETPCAP',
  'KILL',
  'NET_BIND_SERVICE',
  'SYS_CHROOT',
  'SETFCAP',
].map((name) => `CAP_${name}`);

const READONLY_PATHS = ['/proc/bus', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

function mounts({ stagePath, agentName, resources, devices, host }: MachineConfig): object[] {
  const mount = (destination: string, type: string, ...options: string[]): object => ({
    destination,
    type,
    source: type,
    options,
  });
  const bind = (destination: string, source: string, ...options: string[]): object => ({
    destination,
    type: 'bind',
    source,
    options: ['bind', ...options],
  });
  return [
    mount('/proc', 'proc', 'nosuid', 'noexec', 'nodev'),
    // Filled by the launcher: in a /dev of its own, runc would bind the host's nodes one by one.
    bind('/dev', `${stagePath}/devices/dev`),
    mount(
      '/dev/pts',
      'devpts',
      'nosuid',
      'noexec',
      'newinstance',
      'ptmxmode=0666',
      'mode=0620',
      'gid=5',
      `max=${limits.ptys}`,
    ),
    // Charged to the machine's memory. Half of it, so that a full /dev/shm leaves room to work.
    mount('/dev/shm', 'tmpfs', 'nosuid', 'nodev', 'mode=1777', `size=${(resources.memory * GiB) / 2}`),
    mount('/dev/mqueue', 'mqueue', 'nosuid', 'noexec', 'nodev'),
    mount('/sys', 'sysfs', 'nosuid', 'noexec', 'nodev', 'ro'),
    // Below /sys/fs the machine sees its cgroup alone: language runtimes read their limits there.
    ...(host.cgroupVersion === 1
      ? [{ destination: '/sys/fs', type: 'bind', source: `${stagePath}/fs`, options: ['rbind'] }]
      : [
          mount('/sys/fs', 'tmpfs', 'nosuid', 'noexec', 'nodev', 'ro', 'mode=755', 'size=4k'),
          { ...mount('/sys/fs/cgroup', 'cgroup', 'nosuid', 'noexec', 'nodev', 'ro'), source: 'cgroup2' },
        ]),
    bind(AGENT_DESTINATION, `${stagePath}/agent/${agentName}`, 'ro', 'nosuid', 'nodev'),
    // No further options, which saves runc a remount each; the stage itself is mounted nosuid, nodev and noexec.
    ...ETC_FILES.map((name) => bind(`/etc/${name}`, `${stagePath}/etc/${name}`)),
    ...FIGURES.map(([path, name]) => bind(path, `${stagePath}/figures/${name}`)),
    // The launcher makes one node for each, in this order.
    ...devices.nodes.map(({ path }, index) => bind(path, `${stagePath}/devices/${index}`)),
    ...devices.mounts.map(({ source, destination }) => bind(destination, source, 'ro', 'nosuid', 'nodev')),
  ];
}

function cgroupResources({ resources, devices, host }: MachineConfig): object {
  const { memoryBytes, cpuQuotaUs, cpuPeriodUs } = cgroupLimits(resources);
  return {
    devices: [{ allow: false, access: 'rwm' }, ...devices.nodes.map(deviceRule)],
    memory: host.swapAccounting ? { limit: memoryBytes, swap: memoryBytes } : { limit: memoryBytes },
    // No weight: `fairness/processor-shares.ts` may set it at any moment, and runc, which reads back what it wrote,
    // fails on a different value.
    cpu: { quota: cpuQuotaUs, period: cpuPeriodUs },
    pids: { limit: limits.processes },
  };
}

function deviceRule({ type, major, minor, access }: DeviceNode): object {
  return { allow: true, type, major, minor, access };
}
