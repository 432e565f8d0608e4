/** Arguments of the launcher for the start of one machine. They hold nothing of the caller's: the host lists them. */
import { GiB, limits } from '../../../model/limits.ts';
import type { DeviceNode } from '../gpu/device.ts';
import type { Layout } from '../host/layout.ts';
import type { Slot } from '../host/plan.ts';
import type { Cgroups } from './cgroups.ts';
import { type MachineConfig, openFiles } from './config.ts';
import { groupArguments } from './group-arguments.ts';
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
