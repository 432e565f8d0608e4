/** Arguments of the launcher for the start of one machine. They hold nothing of the caller's: the host lists them. */
import { GiB, limits } from '../../../model/limits.ts';
import type { DeviceNode, MachineDevices } from '../gpu/device.ts';
import type { Layout } from '../host/layout.ts';
import type { Slot } from '../host/plan.ts';
import { type Cgroups, type MachineGroup, SOCKET_LIMIT } from './cgroups.ts';
import { cgroupLimits, type MachineConfig, openFiles } from './config.ts';
import type { MachineRuntime } from './machine-runtime.ts';

export interface Launch {
  bundle: string;
  /** Folder of the unpacked image. */
  lower: string;
  machine: MachineConfig & { slot: Slot };
}

type Options = Record<string, string>;

export function launchArguments(
  layout: Layout,
  cgroups: Cgroups,
  runtime: MachineRuntime,
  launch: Launch,
): string[] {
  const { id, slot, devices, host } = launch.machine;
  const { soft, hard } = openFiles(host);
  const own = cgroups.shown(id).flatMap(({ name, path }) => ['--own-cgroup', `${name}=${path}`]);
  return [
    'start',
    ...cgroups.fenceArguments(),
    ...own,
    ...devices.nodes.flatMap((node) => ['--device', deviceArgument(node)]),
    ...named({
      id,
      bundle: launch.bundle,
      lower: launch.lower,
      agents: layout.agents,
      stage: layout.stage,
      disk: layout.disk(id),
      'uid-base': String(slot.uidBase),
      'open-files': `${soft}:${hard}`,
      socket: layout.socket(id),
    }),
    ...(runtime.kind === 'runc'
      ? named({ runc: runtime.runcPath, 'runc-root': layout.runc })
      : directArguments(layout, cgroups, launch.machine)),
  ];
}

function directArguments(layout: Layout, cgroups: Cgroups, machine: MachineConfig): string[] {
  const { id, slot, devices, resources } = machine;
  return [
    ...named({
      generation: String(machine.generation),
      agent: machine.agentName,
      state: layout.state(id),
      'user-namespace': slot.userNamespacePath,
      'net-namespace': slot.netNamespacePath,
      'shm-bytes': String((resources.memory * GiB) / 2),
      ptys: String(limits.ptys),
    }),
    ...devices.nodes.flatMap(({ path }) => ['--node', path]),
    ...devices.mounts.flatMap(({ source, destination }) => ['--bind', source, destination]),
    ...groupArguments(cgroups.groups(id), machine),
  ];
}

function named(options: Options): string[] {
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
}

function deviceArgument({ type, major, minor, mode, uid, gid }: DeviceNode): string {
  return [type, major, minor, mode.toString(8), uid, gid].join(':');
}

/** A file of the group, and its value. */
type Limit = [file: string, value: string];
type Machine = Pick<MachineConfig, 'resources' | 'devices' | 'host'>;

/** The group in each hierarchy, and its limits. */
export function groupArguments(groups: MachineGroup[], machine: Machine): string[] {
  return groups.flatMap((group) => (group.version === 2 ? unified(group, machine) : legacy(group, machine)));
}

function legacy(group: MachineGroup, machine: Machine): string[] {
  const { controllers, folder } = group;
  const limitsOf = limitsOnV1(machine);
  return [
    ...['--group', folder],
    ...inherited(group),
    ...limitArguments(
      folder,
      controllers.flatMap((controller) => limitsOf[controller] ?? []),
    ),
  ];
}

/** Beside the hierarchies of v1 it has no controllers: its group holds the machine, and limits nothing. */
function unified({ folder }: MachineGroup, machine: Machine): string[] {
  const group = ['--unified-group', folder];
  if (machine.host.cgroupVersion === 1) return group;
  const devices = deviceRules(machine.devices).flatMap((rule) => ['--device-rule', rule]);
  return [...group, ...limitArguments(folder, limitsOnV2(machine)), ...devices];
}

/** A group of processors and memory nodes takes no process before it has some of each. */
function inherited({ controllers, folder }: MachineGroup): string[] {
  if (!controllers.includes('cpuset')) return [];
  return ['cpus', 'mems'].flatMap((name) => ['--inherit', `${folder}/cpuset.${name}`]);
}

/**
 * By controller, in the order in which they are written. No weight, here or on v2: it belongs to
 * `fairness/processor-shares.ts`.
 */
function limitsOnV1({ resources, devices, host }: Machine): Record<string, Limit[]> {
  const { memoryBytes, cpuQuotaUs } = cgroupLimits(resources);
  const memory = String(memoryBytes);
  return {
    memory: [
      ['memory.limit_in_bytes', memory],
      ...when(host.swapAccounting, ['memory.memsw.limit_in_bytes', memory]),
      // Before the first socket.
      ...when(host.socketAccounting, [SOCKET_LIMIT, String(limits.kernel.socketMemoryBytes)]),
    ],
    // A new group has the period already. At each of these writes, the kernel looks at all groups.
    cpu: [['cpu.cfs_quota_us', String(cpuQuotaUs)]],
    pids: [['pids.max', String(limits.processes)]],
    devices: [['devices.deny', 'a'], ...deviceRules(devices).map((rule): Limit => ['devices.allow', rule])],
  };
}

/** Those that runc writes for the bundle's configuration. */
function limitsOnV2({ resources, host }: Machine): Limit[] {
  const { memoryBytes, cpuQuotaUs, cpuPeriodUs } = cgroupLimits(resources);
  return [
    ['pids.max', String(limits.processes)],
    ...when(host.swapAccounting, ['memory.swap.max', '0']),
    ['memory.max', String(memoryBytes)],
    ['cpu.max', `${cpuQuotaUs} ${cpuPeriodUs}`],
  ];
}

function when(condition: boolean, limit: Limit): Limit[] {
  return condition ? [limit] : [];
}

function limitArguments(folder: string, of: Limit[]): string[] {
  return of.flatMap(([file, value]) => ['--limit', `${folder}/${file}=${value}`]);
}

/** The nodes of every /dev, and terminals. Nobody in a machine can make a node, so none may be made. */
const OF_EVERY_MACHINE = ['1:3', '1:5', '1:7', '1:8', '1:9', '5:0', '5:2', '136:*'].map(
  (numbers) => `c ${numbers} rw`,
);

/**
 * One list for both versions of cgroups, in the words of `devices.allow`, a file of v1; all other devices are refused.
 */
export function deviceRules({ nodes }: Pick<MachineDevices, 'nodes'>): string[] {
  return [...OF_EVERY_MACHINE, ...nodes.map(ruleOf)];
}

function ruleOf({ type, major, minor, access }: DeviceNode): string {
  return `${type} ${major}:${minor} ${access}`;
}
