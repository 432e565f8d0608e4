/** Devices that a machine may use, as its cgroup enforces it: one list for both versions of cgroups. */
import type { DeviceNode, MachineDevices } from '../gpu/device.ts';

/** The nodes of every /dev, and terminals. Nobody in a machine can make a node, so none may be made. */
const OF_EVERY_MACHINE = ['1:3', '1:5', '1:7', '1:8', '1:9', '5:0', '5:2', '136:*'].map(
  (numbers) => `c ${numbers} rw`,
);

/** In the words of `devices.allow`, a file of v1; all other devices are refused. */
export function deviceRules({ nodes }: Pick<MachineDevices, 'nodes'>): string[] {
  return [...OF_EVERY_MACHINE, ...nodes.map(ruleOf)];
}

function ruleOf({ type, major, minor, access }: DeviceNode): string {
  return `${type} ${major}:${minor} ${access}`;
}
