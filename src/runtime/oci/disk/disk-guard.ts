/**
 * Keeps running machines from filling the host's disk. Their disks are thin, so together they may write more than
 * the host has; their file systems would then see I/O errors and lose writes. While space is short, the guard
 * freezes the machines of the owners who take most of it; below a critical mark it freezes all. Nothing is lost:
 * frozen machines go on once there is room again.
 */

import { mapBounded } from '../../../concurrency/in-portions.ts';
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { createDiskGrowth } from '../fairness/disk-growth.ts';
import type { Owners } from '../fairness/owners.ts';

/** Machines measured or frozen at once; each takes an open file. */
const AT_ONCE = 16;

export interface DiskGuard {
  /** Checks the disk now and at intervals; thaws machines that an earlier boot left frozen if there is room. */
  begin(): Promise<void>;
  /** Returns the reason for which the machine is frozen; null while it is not. */
  pausedReason(id: string): string | null;
  /** Fails with `resource_exhausted` while the machine is frozen. */
  assertRunning(id: string): void;
  close(): Promise<void>;
}

export interface DiskGuardDependencies {
  freeBytes(): Promise<number>;
  /** Returns the running machines. */
  ids(): Promise<string[]>;
  /** Returns the bytes that a machine's disk takes on the host; null when it has no disk. */
  heldBytes(id: string): Promise<number | null>;
  /** Freezes or thaws one machine; idempotent. */
  setFrozen(id: string, frozen: boolean): Promise<void>;
  owners: Pick<Owners, 'of'>;
  log: Log;
}

const ALL =
  "The host's disk is nearly full, so all sandboxes are paused. Nothing is lost; they continue by themselves when there is room.";
const GROWER =
  "The host's disk is running full, and this sandbox took most of what was left, so it is paused. Nothing is lost; it continues by itself when there is room.";

export function createDiskGuard({
  freeBytes,
  ids,
  heldBytes,
  setFrozen,
  owners,
  log,
}: DiskGuardDependencies): DiskGuard {
  const growth = createDiskGrowth(owners);
  /** Machines frozen for their own growth. */
  const growers = new Set<string>();
  let allFrozen = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;

  /** @returns Milliseconds until the next check. */
  async function look(): Promise<number> {
    const free = await freeBytes();
    const present = await ids();
    for (const id of growers) if (!present.includes(id)) growers.delete(id);
    if (free >= limits.disk.watchedBytes) growth.reset();
    else growth.add(await measured(present), performance.now());
    if (free < limits.disk.shortBytes) await stopGrowers(free);
    if (free >= 1.5 * limits.disk.shortBytes) await letGrowersGo(free);
    await mindTheLastLine(free, present);
    return free < limits.disk.watchedBytes ? limits.disk.watchedIntervalMs : limits.diskGuardIntervalMs;
  }

  async function measured(present: string[]): Promise<Map<string, number>> {
    const held = await mapBounded(
      present,
      AT_ONCE,
      async (id): Promise<[string, number | null]> => [id, await heldBytes(id)],
    );
    return new Map(held.filter((entry): entry is [string, number] => entry[1] !== null));
  }

  async function stopGrowers(free: number): Promise<void> {
    const fastest = growth.fastest(growers);
    // The growth of the others is measured anew from here.
    if (fastest.length > 0) growth.reset();
    for (const id of fastest) {
      growers.add(id);
      await setFrozen(id, true);
      log.warn('the disk is running full: froze a sandbox that took most of it', {
        sandbox: id,
        owner: owners.of(id),
        freeBytes: free,
      });
    }
  }

  async function letGrowersGo(free: number): Promise<void> {
    for (const id of growers) {
      await setFrozen(id, false);
      growers.delete(id);
      log.info('the disk has room again: thawed a sandbox', { sandbox: id, freeBytes: free });
    }
  }

  async function mindTheLastLine(free: number, present: string[]): Promise<void> {
    if (free < limits.hostCriticalDiskBytes) {
      if (!allFrozen) log.error('the disk is nearly full: freezing all sandboxes', { freeBytes: free });
      allFrozen = true;
      // At every check, so that a machine that was just being started is frozen too.
      await mapBounded(present, AT_ONCE, (id) => setFrozen(id, true));
    } else if (allFrozen && free >= 2 * limits.hostCriticalDiskBytes) {
      const others = present.filter((id) => !growers.has(id));
      await mapBounded(others, AT_ONCE, (id) => setFrozen(id, false));
      allFrozen = false;
      log.info('the disk has room again: thawed sandboxes', { freeBytes: free });
    }
  }

  function lookIn(pauseMs: number): void {
    timer = setTimeout(() => {
      looking = look()
        .catch((error: unknown) => {
          log.error('the disk could not be watched', { error });
          return limits.diskGuardIntervalMs;
        })
        .then((pause) => {
          if (!closed) lookIn(pause);
        });
    }, pauseMs);
  }

  const pausedReason = (id: string): string | null => (allFrozen ? ALL : growers.has(id) ? GROWER : null);

  return {
    async begin() {
      if ((await freeBytes()) >= limits.hostCriticalDiskBytes) {
        for (const id of await ids()) await setFrozen(id, false);
      }
      lookIn(await look());
    },

    pausedReason,

    assertRunning(id) {
      const reason = pausedReason(id);
      if (reason === null) return;
      throw new SandhavenError('resource_exhausted', reason, {
        hint: 'Delete sandboxes that are not needed, or ask the operator to free disk space.',
        retryable: true,
      });
    },

    async close() {
      closed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
