/**
 * Loop devices made ready ahead of need. The launcher bounds what a disk can have in flight, once for each device, and the kernel
 * then waits for all processors, twice: 40 to 60 ms. Without this, each creation would wait so long that raises the number of
 * sandboxes above the most since the host's start.
 */
import type { Log } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import { describeFailure } from '../host/failures.ts';
import type { Helpers } from '../host/helper.ts';

export interface ReadyLoopDevices {
  /** Makes the first ready. */
  begin(): void;
  /** Called when a machine takes a device. */
  taken(): void;
  /** Resolves when nothing works on devices any more. */
  close(): Promise<void>;
}

export interface ReadyLoopDevicesDependencies {
  helpers: Pick<Helpers, 'run'>;
  launcherPath: string;
  log: Pick<Log, 'warn'>;
}

/** Devices that a look makes ready, from the first free one on; those in use count, and stay as they are. */
const READY = 32;
/** Devices taken before the next look: devices that are free again are ready, too. */
const LOOK_AFTER = 8;
/** Lets the start that took a device go first. */
const DELAY_MS = 200;

export function createReadyLoopDevices(parts: ReadyLoopDevicesDependencies): ReadyLoopDevices {
  const { helpers, launcherPath, log } = parts;
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;
  let taken = 0;

  function look(): void {
    timer = undefined;
    taken = 0;
    looking ??= makeReady()
      .catch((error: unknown) => {
        // Starts go on, and wait for their devices themselves.
        if (closing.signal.aborted) return;
        log.warn('loop devices could not be made ready', { reason: describeFailure(error) });
      })
      .finally(() => {
        looking = null;
      });
  }

  async function makeReady(): Promise<void> {
    const options = { timeoutMs: limits.diskHelperTimeoutMs, signal: closing.signal };
    await helpers.run(launcherPath, ['ready-loop-devices', String(READY)], options);
  }

  return {
    begin: look,

    taken() {
      taken += 1;
      if (taken < LOOK_AFTER || timer || closing.signal.aborted) return;
      timer = setTimeout(look, DELAY_MS).unref();
    },

    async close() {
      closing.abort();
      clearTimeout(timer);
      await looking;
    },
  };
}
