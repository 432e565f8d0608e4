/**
 * Loop devices of disk images, read from the kernel. The launcher notes its device in the bundle before it mounts
 * anything, so reading one file of the kernel is enough, however many machines there are.
 */
import { readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { growingPauses } from '../../../concurrency/patience.ts';
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { describeFailure } from '../host/failures.ts';
import { unlessMissing } from '../host/files.ts';
import type { Helpers } from '../host/helper.ts';
import { bundleGeneration, LOOP_NOTE } from '../host/layout.ts';

const SYS_BLOCK = '/sys/block';
const deviceName = /^loop\d{1,7}$/;

/** Resolves when no loop device uses the image. The kernel frees a device after the end of its machine, once all is written. */
export async function waitUntilFree(image: string, sysBlock = SYS_BLOCK): Promise<void> {
  const folder = await unlessMissing(realpath(dirname(image)));
  if (folder === null) return;
  // The kernel reports paths with symbolic links resolved.
  const file = join(folder, basename(image));
  const devices = await notedDevices(folder, file, sysBlock);
  const deadline = performance.now() + limits.kernelStuckMs;
  for (const pauseMs of growingPauses(50)) {
    if (!(await anyBacks(devices, file, sysBlock))) return;
    if (performance.now() > deadline) {
      throw new SandhavenError('unavailable', "The sandbox's disk is still in use.", {
        hint: 'Try again; when it stays so, restart the host.',
      });
    }
    await sleep(pauseMs);
  }
}

/**
 * Returns the devices noted in the sandbox's bundles. A bundle without a note comes from a launcher that had taken no
 * device yet, or from one that wrote no notes: then all devices are searched, once, and the result is noted.
 */
async function notedDevices(folder: string, file: string, sysBlock: string): Promise<string[]> {
  const devices: string[] = [];
  for (const name of (await unlessMissing(readdir(folder))) ?? []) {
    if (bundleGeneration(name) === null) continue;
    const note = join(folder, name, LOOP_NOTE);
    const noted = (await unlessMissing(readFile(note, 'utf8')))?.trim();
    const found = noted ?? (await findDevice(file, sysBlock)) ?? '';
    if (noted === undefined) await unlessMissing(writeFile(note, found));
    if (deviceName.test(found)) devices.push(found);
  }
  return devices;
}

/** Reads one device after another: a host may have more devices than this process may open files. */
export async function findDevice(file: string, sysBlock = SYS_BLOCK): Promise<string | null> {
  for (const name of await readdir(sysBlock)) {
    if (deviceName.test(name) && (await backs(name, file, sysBlock))) return name;
  }
  return null;
}

async function anyBacks(devices: string[], file: string, sysBlock: string): Promise<boolean> {
  for (const device of devices) if (await backs(device, file, sysBlock)) return true;
  return false;
}

/** Compares the backing file, since a noted device may belong to another disk by now. */
async function backs(device: string, file: string, sysBlock: string): Promise<boolean> {
  const backing = await unlessMissing(readFile(`${sysBlock}/${device}/loop/backing_file`, 'utf8'));
  // A removed file keeps its device; the kernel then appends "(deleted)" to its name.
  return backing?.replace(/\n$/, '').replace(/ \(deleted\)$/, '') === file;
}

// Loop devices made ready ahead of need. The launcher bounds what a disk can have in flight, once for each device, and the kernel
// then waits for all processors, twice: 40 to 60 ms. Without this, each creation would wait so long that raises the number of
// sandboxes above the most since the host's start.

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
