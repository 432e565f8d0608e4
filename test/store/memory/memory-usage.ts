/** What sandboxes count for in a quota, in the plainest way there is. */
import type { Usage } from '../../../src/model/quota.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';

export function usageOf(
  rows: Iterable<Sandbox>,
  ownerId: string,
  snapshots: Iterable<Snapshot>,
): Omit<Usage, 'snapshots'> {
  const own = [...rows].filter((row) => row.ownerId === ownerId);
  const running = own.filter(
    ({ state, operation }) =>
      state === 'started' || ['creating', 'starting', 'restoring'].includes(operation ?? ''),
  );
  const sum = (sandboxes: Sandbox[], kind: 'cpu' | 'memory' | 'disk') =>
    sandboxes.reduce(
      (total, { resources, resizeTarget }) => total + Math.max(resources[kind], resizeTarget?.[kind] ?? 0),
      0,
    );
  const captured = [...snapshots]
    .filter((row) => row.ownerId === ownerId && row.source !== null)
    .reduce((total, { sizeBytes }) => total + Math.ceil((sizeBytes ?? 0) / 1_073_741_824), 0);
  return {
    sandboxes: own.length,
    cpu: sum(running, 'cpu'),
    memory: sum(running, 'memory'),
    disk: sum(own, 'disk') + captured,
  };
}

export function promisedDiskGbOf(rows: Sandbox[]): number {
  return rows
    .filter(({ state }) => state !== 'archived')
    .reduce((sum, { resources, resizeTarget }) => sum + Math.max(resources.disk, resizeTarget?.disk ?? 0), 0);
}
