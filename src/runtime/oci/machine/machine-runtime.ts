/** Makes a machine of the launcher's mounts: runc, or the launcher itself. */
import { controllerHierarchy, type Hierarchy, memoryHierarchy } from '../host/hierarchies.ts';

export type MachineRuntime = { kind: 'runc'; runcPath: string } | { kind: 'direct' };

/** Names the reason for which the launcher cannot start machines on this host by itself; null for none. */
export function refusalOfDirect(hierarchies: Hierarchy[]): string | null {
  if (memoryHierarchy(hierarchies)?.version !== 1) return 'cgroup v2 limits memory here, and it needs v1';
  // Nothing else keeps the devices of an operator's GPUs apart.
  if (controllerHierarchy(hierarchies, 'devices') === null) return 'no cgroup limits devices here';
  return null;
}
