/**
 * The OCI configuration of one machine. Pure: equal arguments give equal configurations, and nothing of the
 * caller's (env vars, names, labels) is in it, because it lies on the host's disk and in PID 1's environment.
 */
import { GiB, limits } from '../../../model/limits.ts';
import type { Resources } from '../../../model/sandbox.ts';
import type { DeviceNode, MachineDevices } from '../gpu/device.ts';
import { MASKED_PATHS } from './masked-paths.ts';
import { seccompRules } from './seccomp.ts';
import type { Slot } from './slot.ts';

/** Path of the agent inside: read-only, the same file for every machine of one version. */
export const AGENT_DESTINATION = '/.sandhaven/agent';

/** The files of /etc that the launcher lays into the stage for every machine. */
export const ETC_FILES = ['hosts', 'hostname', 'resolv.conf'] as const;

/** The launcher's files that show a machine its own memory and processors, by where programs read them. */
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
  /** The folder that the launcher mounts everything in; seen only in the machine's own mount namespace. */
  stagePath: string;
  /** Of the agent's file in the stage's file system of agents. */
  agentName: string;
  cgroupPath: string;
  slot: Pick<Slot, 'userNamespacePath' | 'netNamespacePath'>;
  resources: Resources;
  devices: MachineDevices;
  host: HostFacts;
}

/** Differences between hosts. */
export interface HostFacts {
  /** As `process.arch` has it. */
  arch: string;
  /** Of the hierarchy that limits memory. Of version 1 the launcher shows a machine its groups, of version 2 runc. */
  cgroupVersion: 1 | 2;
  /** true: the kernel can limit swap per cgroup. */
  swapAccounting: boolean;
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
      // Set-uid programs inside (sudo, su) work: all they can gain is root of their own user namespace.
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

/** Of each process; the launcher sets them, since runc may have no right to. */
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
    // The launcher furnishes it: of /dev as a mount of its own runc would bind the host's nodes, one by one.
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
    // Charged to the machine's memory like any other; half of it, so that a full one leaves room to work.
    mount('/dev/shm', 'tmpfs', 'nosuid', 'nodev', 'mode=1777', `size=${(resources.memory * GiB) / 2}`),
    mount('/dev/mqueue', 'mqueue', 'nosuid', 'noexec', 'nodev'),
    mount('/sys', 'sysfs', 'nosuid', 'noexec', 'nodev', 'ro'),
    // Of all file systems' own folders, the machine sees its cgroup: runtimes of languages read their limits there.
    ...(host.cgroupVersion === 1
      ? [{ destination: '/sys/fs', type: 'bind', source: `${stagePath}/fs`, options: ['rbind'] }]
      : [
          mount('/sys/fs', 'tmpfs', 'nosuid', 'noexec', 'nodev', 'ro', 'mode=755', 'size=4k'),
          mount('/sys/fs/cgroup', 'cgroup', 'nosuid', 'noexec', 'nodev', 'ro'),
        ]),
    bind(AGENT_DESTINATION, `${stagePath}/agent/${agentName}`, 'ro', 'nosuid', 'nodev'),
    // Without further options, runc saves a remount each; the stage is mounted nosuid, nodev and noexec itself.
    ...ETC_FILES.map((name) => bind(`/etc/${name}`, `${stagePath}/etc/${name}`)),
    ...FIGURES.map(([path, name]) => bind(path, `${stagePath}/figures/${name}`)),
    // The launcher makes a node for each, in this order.
    ...devices.nodes.map(({ path }, index) => bind(path, `${stagePath}/devices/${index}`)),
    ...devices.mounts.map(({ source, destination }) => bind(destination, source, 'ro', 'nosuid', 'nodev')),
  ];
}

function cgroupResources({ resources, devices, host }: MachineConfig): object {
  const { memoryBytes, cpuQuotaUs, cpuPeriodUs } = cgroupLimits(resources);
  return {
    devices: [{ allow: false, access: 'rwm' }, ...devices.nodes.map(deviceRule)],
    memory: host.swapAccounting ? { limit: memoryBytes, swap: memoryBytes } : { limit: memoryBytes },
    // Without a weight, which `fairness/processor-shares.ts` may give it any moment: runc reads back what it has written, and
    // fails when that is another.
    cpu: { quota: cpuQuotaUs, period: cpuPeriodUs },
    pids: { limit: limits.processes },
  };
}

function deviceRule({ type, major, minor, access }: DeviceNode): object {
  return { allow: true, type, major, minor, access };
}
