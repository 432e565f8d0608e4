/** Arguments of the launcher about a machine's cgroups on v1: the group in each hierarchy, and its limits. */
import { limits } from '../../../model/limits.ts';
import type { DeviceNode } from '../gpu/device.ts';
import { cgroupLimits, type MachineConfig } from '../machine/config.ts';
import { type MachineGroup, SOCKET_LIMIT, socketMemoryBytes } from './cgroups.ts';

/** A file of the group, and its value. */
type Limit = [file: string, value: string];
type Machine = Pick<MachineConfig, 'resources' | 'devices' | 'host'>;

/** The nodes of every /dev, and terminals. Nobody in a machine can make a node, so none may be made. */
const DEVICES = ['1:3', '1:5', '1:7', '1:8', '1:9', '5:0', '5:2', '136:*'].map(
  (numbers) => `c ${numbers} rw`,
);

export function groupArguments(groups: MachineGroup[], machine: Machine): string[] {
  return groups.flatMap((group) => [
    group.version === 2 ? '--unified-group' : '--group',
    group.folder,
    ...inherited(group),
    ...limitsOf(group, machine).flatMap(([file, value]) => ['--limit', `${group.folder}/${file}=${value}`]),
  ]);
}

/** A group of processors and memory nodes takes no process before it has some of each. */
function inherited({ controllers, folder }: MachineGroup): string[] {
  if (!controllers.includes('cpuset')) return [];
  return ['cpus', 'mems'].flatMap((name) => ['--inherit', `${folder}/cpuset.${name}`]);
}

/** In the order in which they are written. No weight: it belongs to `fairness/processor-shares.ts`. */
function limitsOf({ controllers }: MachineGroup, { resources, devices, host }: Machine): Limit[] {
  const { memoryBytes, cpuQuotaUs, cpuPeriodUs } = cgroupLimits(resources);
  const memory = String(memoryBytes);
  const of: Record<string, Limit[]> = {
    memory: [
      ['memory.limit_in_bytes', memory],
      ...when(host.swapAccounting, ['memory.memsw.limit_in_bytes', memory]),
      // Before the first socket.
      ...when(host.socketAccounting, [SOCKET_LIMIT, String(socketMemoryBytes(resources))]),
    ],
    cpu: [
      ['cpu.cfs_period_us', String(cpuPeriodUs)],
      ['cpu.cfs_quota_us', String(cpuQuotaUs)],
    ],
    pids: [['pids.max', String(limits.processes)]],
    devices: [
      ['devices.deny', 'a'],
      ...[...DEVICES, ...devices.nodes.map(ruleOf)].map((rule): Limit => ['devices.allow', rule]),
    ],
  };
  return controllers.flatMap((controller) => of[controller] ?? []);
}

function when(condition: boolean, limit: Limit): Limit[] {
  return condition ? [limit] : [];
}

function ruleOf({ type, major, minor, access }: DeviceNode): string {
  return `${type} ${major}:${minor} ${access}`;
}
