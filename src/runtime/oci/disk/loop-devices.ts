/**
 * Loop devices of disk images, read from the kernel. The launcher notes its device in the bundle before it mounts
 * anything, so reading one file of the kernel is enough, however many machines there are.
 */
import { readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { growingPauses } from '../../../concurrency/patience.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { unlessMissing } from '../host/files.ts';
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
