/** Cgroup hierarchies of this host: one on v2, several on v1, both where an init system mixes them. */

export interface Hierarchy {
  mountpoint: string;
  version: 1 | 2;
  /** Controllers mounted here on v1, named ones as "name=…"; empty on v2, where the root lists them in files. */
  controllers: string[];
}

/** @param mountinfo Contents of /proc/self/mountinfo. */
export function parseHierarchies(mountinfo: string): Hierarchy[] {
  const byDevice = new Map<string, Hierarchy>();
  for (const line of mountinfo.split('\n')) {
    const [left, right] = line.split(' - ');
    if (left === undefined || right === undefined) continue;
    const [, , device, , mountpoint] = left.split(' ');
    const [type, , options] = right.split(' ');
    if (device === undefined || mountpoint === undefined || byDevice.has(device)) continue;
    if (type === 'cgroup2') byDevice.set(device, { mountpoint, version: 2, controllers: [] });
    if (type === 'cgroup') {
      const controllers = (options ?? '').split(',').filter((option) => !mountOptions.has(option));
      byDevice.set(device, { mountpoint, version: 1, controllers });
    }
  }
  return [...byDevice.values()];
}

const mountOptions = new Set(['rw', 'ro', 'xattr', 'noprefix', 'clone_children', 'cpuset_v2_mode']);

/** Returns the hierarchy that limits the memory of machines: every running machine is in it. */
export function memoryHierarchy(hierarchies: Hierarchy[]): Hierarchy | null {
  return (
    hierarchies.find(({ controllers }) => controllers.includes('memory')) ??
    hierarchies.find(({ version }) => version === 2) ??
    null
  );
}

/** Returns the hierarchy of a v1 controller; on a host of v2 alone, the one hierarchy. */
export function controllerHierarchy(hierarchies: Hierarchy[], controller: string): Hierarchy | null {
  const v1 = hierarchies.find(({ controllers }) => controllers.includes(controller));
  if (v1) return v1;
  const memory = memoryHierarchy(hierarchies);
  return memory?.version === 2 ? memory : null;
}
