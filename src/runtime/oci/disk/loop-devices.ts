/**
 * Returns true when a loop device uses a disk image, by the kernel's files. The launcher notes its device in the
 * bundle before it mounts anything, so one file of the kernel answers, however many machines there are.
 */
import { readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { unlessMissing } from '../host/files.ts';
import { bundleGeneration, LOOP_NOTE } from '../layout.ts';

const SYS_BLOCK = '/sys/block';
const deviceName = /^loop\d{1,7}$/;

/** Resolves when no loop device uses the image. The devices free themselves a moment after their machine died. */
export async function waitUntilFree(image: string, sysBlock = SYS_BLOCK): Promise<void> {
  const folder = await unlessMissing(realpath(dirname(image)));
  if (folder === null) return;
  // The kernel names files without the symbolic links on the way to them.
  const file = join(folder, basename(image));
  const devices = await notedDevices(folder, file, sysBlock);
  const deadline = performance.now() + limits.teardownTimeoutMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    if (!(await anyBacks(devices, file, sysBlock))) return;
    if (performance.now() > deadline) {
      throw new SandhavenError('unavailable', "The sandbox's disk is still in use.", {
        hint: 'Try again; when it stays so, restart the host.',
      });
    }
    await sleep(pause);
  }
}

/**
 * The devices that bundles of the sandbox name. A bundle without a note is of a launcher that had taken no device
 * yet, or of one that wrote none: then the kernel is asked for all devices, once, and the answer noted.
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

/** One after another: a host may have more devices than this process may open files. */
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

/** A number that was noted may be another disk's by now: what backs it decides. */
async function backs(device: string, file: string, sysBlock: string): Promise<boolean> {
  const backing = await unlessMissing(readFile(`${sysBlock}/${device}/loop/backing_file`, 'utf8'));
  // A removed file keeps its device, and the kernel says so after its name.
  return backing?.replace(/\n$/, '').replace(/ \(deleted\)$/, '') === file;
}
