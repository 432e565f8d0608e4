/** Counts the locks of machines by the users who opened the locked files (`native/launcher/src/locks`): those of a slot are its own. */
import type { Log } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import { runLauncher } from '../host/helper.ts';
import { uidBaseOf, uidsPerSlot } from '../host/plan.ts';
import type { Slots } from '../network/slots-port.ts';

export interface LockCensusDependencies {
  launcherPath: string;
  slots: Pick<Slots, 'get'>;
  log: Log;
}

/** Resolves to the machines' counts; null where the kernel does not let itself be counted. */
export type LockCensus = (ids: string[]) => Promise<Map<string, number> | null>;

export function createLockCensus({ launcherPath, slots, log }: LockCensusDependencies): LockCensus {
  let isKnownToFail = false;

  async function slotsOf(ids: string[]): Promise<Map<string, number>> {
    const found = await Promise.all(ids.map(async (id) => [id, await slots.get(id)] as const));
    return new Map(found.flatMap(([id, slot]) => (slot ? [[id, slot.index]] : [])));
  }

  async function countBySlot(): Promise<Map<number, number>> {
    const counts = new Map<number, number>();
    await runLauncher(launcherPath, ['count-locks', String(uidBaseOf(0)), String(uidsPerSlot)], {
      timeoutMs: limits.kernel.lockCountTimeoutMs,
      onLine(line) {
        const [slot, count] = line.split(' ').map(Number);
        counts.set(Number(slot), Number(count));
      },
    });
    return counts;
  }

  return async (ids) => {
    const before = await slotsOf(ids);
    const counts = await countBySlot().catch((error: unknown) => {
      if (!isKnownToFail) log.warn('file locks are counted through descriptors alone', { error });
      isKnownToFail = true;
      return null;
    });
    if (!counts) return null;
    // A slot that has changed hands meanwhile may have been counted with the locks of the one before.
    const after = await slotsOf(ids);
    const held = [...after].filter(([id, slot]) => before.get(id) === slot);
    return new Map(held.map(([id, slot]) => [id, counts.get(slot) ?? 0]));
  };
}
