/**
 * Keeps running machines from filling the host's disk. Their disks are thin, so together they may write more than
 * the host has; their file systems would then see I/O errors, and lose what was being written. Below a critical
 * mark all machines are frozen instead, and nothing is lost: they go on once there is room again.
 */
import type { Log } from '../../control/ports.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

export interface DiskGuard {
  /** Looks now, and from then on; what an earlier boot left frozen goes on where there is room. */
  begin(): Promise<void>;
  /** Fails with `resource_exhausted` while machines are frozen. */
  assertRunning(): void;
  close(): Promise<void>;
}

export interface DiskGuardParts {
  freeBytes(): Promise<number>;
  /** Freezes or thaws every machine that runs; repeating it does no harm. */
  setFrozen(frozen: boolean): Promise<void>;
  log: Log;
}

export function createDiskGuard({ freeBytes, setFrozen, log }: DiskGuardParts): DiskGuard {
  let frozen = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;

  async function look(): Promise<void> {
    const free = await freeBytes();
    if (free < limits.hostCriticalDiskBytes) {
      if (!frozen) log.error('the disk is nearly full: all sandboxes are frozen', { freeBytes: free });
      frozen = true;
      // Each time, so that one that was just being started is frozen too.
      await setFrozen(true);
    } else if (frozen && free >= 2 * limits.hostCriticalDiskBytes) {
      await setFrozen(false);
      frozen = false;
      log.info('there is room on the disk again: sandboxes go on', { freeBytes: free });
    }
  }

  function lookSoon(): void {
    looking ??= look()
      .catch((error: unknown) => log.error('the disk could not be watched', { error }))
      .finally(() => {
        looking = null;
      });
  }

  return {
    async begin() {
      if ((await freeBytes()) >= limits.hostCriticalDiskBytes) await setFrozen(false);
      await look();
      timer = setInterval(lookSoon, limits.diskGuardIntervalMs);
    },

    assertRunning() {
      if (!frozen) return;
      throw new SandhavenError(
        'resource_exhausted',
        'The disk of the host is nearly full, so all sandboxes are paused; nothing of them is lost.',
        {
          hint: 'Delete sandboxes that are not needed, or ask the operator to free disk space.',
          retryable: true,
        },
      );
    },

    async close() {
      clearInterval(timer);
      await looking;
    },
  };
}
