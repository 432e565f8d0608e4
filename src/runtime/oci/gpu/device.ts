/** GPUs, and the nodes and mounts that they add to a machine. */

export interface DeviceNode {
  /** Path inside the machine. */
  path: string;
  type: 'c' | 'b';
  major: number;
  minor: number;
  mode: number;
  uid: number;
  gid: number;
  /** Allowed access: of r and w. */
  access: string;
}

export interface DeviceMount {
  /** File or folder of the host; read-only inside. */
  source: string;
  destination: string;
}

/** Nodes and mounts that a machine gets beside those of every machine. */
export interface MachineDevices {
  nodes: DeviceNode[];
  mounts: DeviceMount[];
}

export interface Gpu {
  /** Device name in its specification. */
  name: string;
  /** Keys of its own nodes. Two GPUs are the same hardware when one has all nodes of the other. */
  hardware: string[];
  devices: MachineDevices;
  env: Record<string, string>;
}

export const noDevices: MachineDevices = { nodes: [], mounts: [] };

export function keyOf({ type, major, minor }: Pick<DeviceNode, 'type' | 'major' | 'minor'>): string {
  return `${type}:${major}:${minor}`;
}

/** Returns true when all nodes of one are among the other's: handing out both would share the hardware. */
export function isSameHardware(a: string[], b: string[]): boolean {
  const [fewer, more] = a.length <= b.length ? [a, b] : [b, a];
  return fewer.every((key) => more.includes(key));
}

/** Merges the devices of all GPUs, each node and mount once. */
export function devicesOf(gpus: Gpu[]): MachineDevices {
  const nodes = gpus.flatMap(({ devices }) => devices.nodes);
  const mounts = gpus.flatMap(({ devices }) => devices.mounts);
  return {
    nodes: [...new Map(nodes.map((node) => [node.path, node])).values()],
    mounts: [...new Map(mounts.map((mount) => [mount.destination, mount])).values()],
  };
}
