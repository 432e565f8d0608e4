/** Which disk images back loop devices, as the kernel tells: such a disk is in use. */
import { readdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { unlessMissing } from './files.ts';

/** Backing files by name of the device ("loop3"). */
export async function loopDevices(sysBlock = '/sys/block'): Promise<Map<string, string>> {
  const names = (await readdir(sysBlock)).filter((name) => /^loop\d+$/.test(name));
  const backing = await Promise.all(
    names.map((name) => unlessMissing(readFile(`${sysBlock}/${name}/loop/backing_file`, 'utf8'))),
  );
  const devices = new Map<string, string>();
  for (const [index, name] of names.entries()) {
    // A removed file keeps its device, and the kernel says so after its name.
    const path = backing[index]?.replace(/\n$/, '').replace(/ \(deleted\)$/, '');
    if (path) devices.set(name, path);
  }
  return devices;
}

/** Resolves when no loop device uses the image. The devices free themselves a moment after their machine died. */
export async function waitUntilFree(image: string, sysBlock?: string): Promise<void> {
  const folder = await unlessMissing(realpath(dirname(image)));
  if (folder === null) return;
  // The kernel names files without the symbolic links on the way to them.
  const file = join(folder, basename(image));
  const deadline = performance.now() + limits.teardownTimeoutMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    const inUse = [...(await loopDevices(sysBlock)).values()].includes(file);
    if (!inUse) return;
    if (performance.now() > deadline) {
      throw new SandhavenError('unavailable', "The sandbox's disk is still in use.", {
        hint: 'Try again; when it stays so, restart the host.',
      });
    }
    await sleep(pause);
  }
}
