/** A GPU that can be handed out, and what a machine that holds some is made of. */

export interface DeviceNode {
  /** Path inside. */
  path: string;
  type: 'c' | 'b';
  major: number;
  minor: number;
  mode: number;
  uid: number;
  gid: number;
  /** Of r and w. */
  access: string;
}

export interface DeviceMount {
  /** A file or a folder of the host; read-only inside. */
  source: string;
  destination: string;
}

/** Additions to a machine for its devices. */
export interface MachineDevices {
  nodes: DeviceNode[];
  mounts: DeviceMount[];
}

export interface Gpu {
  /** As its specification calls it. */
  name: string;
  /** Keys of its own nodes: two GPUs of which one has all of the other's are the same piece of hardware. */
  hardware: string[];
  devices: MachineDevices;
  env: Record<string, string>;
}

export const noDevices: MachineDevices = { nodes: [], mounts: [] };

export function keyOf({ type, major, minor }: Pick<DeviceNode, 'type' | 'major' | 'minor'>): string {
  return `${type}:${major}:${minor}`;
}

/** Returns true when both together would give one piece of hardware to two machines. */
export function isSameHardware(a: string[], b: string[]): boolean {
  const [fewer, more] = a.length <= b.length ? [a, b] : [b, a];
  return fewer.every((key) => more.includes(key));
}

/** Everything of all, each node and mount once. */
export function devicesOf(gpus: Gpu[]): MachineDevices {
  const nodes = gpus.flatMap(({ devices }) => devices.nodes);
  const mounts = gpus.flatMap(({ devices }) => devices.mounts);
  return {
    nodes: [...new Map(nodes.map((node) => [node.path, node])).values()],
    mounts: [...new Map(mounts.map((mount) => [mount.destination, mount])).values()],
  };
}
