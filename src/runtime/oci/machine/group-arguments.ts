/** Arguments of the launcher about a machine's cgroups: the group in each hierarchy, and its limits. */
import { limits } from '../../../model/limits.ts';
import { type MachineGroup, SOCKET_LIMIT } from './cgroups.ts';
import { cgroupLimits, type MachineConfig } from './config.ts';
import { deviceRules } from './device-rules.ts';

/** A file of the group, and its value. */
type Limit = [file: string, value: string];
type Machine = Pick<MachineConfig, 'resources' | 'devices' | 'host'>;

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

/** One that lies beside the others without controllers holds the machine, and limits nothing. */
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
