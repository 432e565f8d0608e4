/** Which slots' ranges of host ids are in other hands: still used by processes, or given away by the host. */
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../../model/limits.ts';
import { indexOfUid } from './plan.ts';

const pidsPerTurn = 64;

/**
 * Slots whose ids any process has, as real, effective, saved or file system user. Zombies count: their threads
 * may live. Ids of a user namespace cannot leave its range, so a process shows its slot whatever it does.
 */
export async function slotsWithProcesses(): Promise<Set<number>> {
  const busy = new Set<number>();
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  for (const [i, pid] of pids.entries()) {
    // The kernel makes these files as they are read: waiting for each would take ten times as long.
    if (i % pidsPerTurn === 0) await nextTurn();
    for (const uid of /^Uid:\s+(.*)$/m.exec(read(`/proc/${pid}/status`))?.[1]?.split(/\s+/) ?? []) {
      const index = indexOfUid(Number(uid));
      if (index >= 0) busy.add(index);
    }
  }
  return busy;
}

/** Slots of which some id is delegated to a user of the host, for rootless containers. */
export function delegatedSlots(): Set<number> {
  return new Set(['/etc/subuid', '/etc/subgid'].flatMap((path) => slotsInDelegations(read(path))));
}

/** @param table Lines of `user:first id:count`, as subuid(5) has them. */
export function slotsInDelegations(table: string): number[] {
  return table.split('\n').flatMap((line) => {
    const [, first, count] = /^[^:#]+:(\d+):(\d+)\s*$/.exec(line)?.map(Number) ?? [];
    if (first === undefined || !count) return [];
    const from = Math.max(indexOfUid(first), 0);
    const to = Math.min(indexOfUid(first + count - 1), limits.network.slots - 1);
    return Array.from({ length: Math.max(to - from + 1, 0) }, (_, i) => from + i);
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
