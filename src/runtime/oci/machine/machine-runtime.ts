/** Makes a machine of the launcher's mounts: runc, or the launcher itself. */
import { controllerHierarchy, type Hierarchy, memoryHierarchy } from '../host/hierarchies.ts';

export type MachineRuntime = { kind: 'runc'; runcPath: string } | { kind: 'direct' };

/**
 * Names the reason for which the launcher cannot start machines on this host by itself; null for none.
 * @param tryDeviceRules Asks the kernel for rules about devices on cgroup v2, and resolves to its error, or to null.
 */
export async function refusalOfDirect(
  hierarchies: Hierarchy[],
  tryDeviceRules: () => Promise<string | null>,
): Promise<string | null> {
  const memory = memoryHierarchy(hierarchies);
  if (memory === null) return 'no cgroup limits memory here';
  // Nothing else keeps the devices of an operator's GPUs apart.
  if (memory.version === 1) {
    return controllerHierarchy(hierarchies, 'devices') === null ? 'no cgroup limits devices here' : null;
  }
  const error = await tryDeviceRules();
  return error === null ? null : `the kernel takes no rules about devices for cgroup v2 (${error})`;
}
