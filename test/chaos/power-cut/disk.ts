/** The disk of a sandbox at the moment of a power cut, made from what the disk was told until then. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Random } from '../../support/random.ts';
import { type Entry, kinds } from './log.ts';

const run = promisify(execFile);

/** What a disk's own cache keeps of the blocks that were written since the last flush. */
export const survivals = ['none', 'all', 'some', 'the first'] as const;
export type Survival = (typeof survivals)[number];

/** What a disk writes at once. */
const BLOCK_BYTES = 4096;
const RELEASED_WITHIN_MS = 30_000;

export interface Cut {
  /** Nanoseconds of the entries' clock. */
  at: bigint;
  survival: Survival;
}

/** @param base The image before the first entry. */
export async function makeDisk(
  path: string,
  base: string,
  entries: Entry[],
  cut: Cut,
  random: Random,
): Promise<void> {
  await run('cp', ['--sparse=always', base, path]);
  const seen = entries.filter(({ at }) => at <= cut.at);
  const flushed = seen.findLastIndex(({ kind }) => kind === kinds.flush);
  const cached = seen.length - flushed - 1;
  const kept = Math.floor(random() * (cached + 1));
  const survives = (index: number): boolean => {
    if (index <= flushed || cut.survival === 'all') return true;
    if (cut.survival === 'none') return false;
    return cut.survival === 'some' ? random() < 0.5 : index - flushed - 1 < kept;
  };
  const disk = await open(path, 'r+');
  try {
    for (const [index, { kind, offset, data }] of seen.entries()) {
      if (kind !== kinds.write) continue;
      if (index <= flushed) {
        await disk.write(data, 0, data.length, offset);
        continue;
      }
      for (let block = 0; block < data.length; block += BLOCK_BYTES) {
        if (!survives(index)) continue;
        await disk.write(data, block, Math.min(BLOCK_BYTES, data.length - block), offset + block);
      }
    }
  } finally {
    await disk.close();
  }
}

/** Digests of the files in the sandbox's folder, by name; '' of an empty one. The journal is replayed first. */
export async function filesOn(image: string, mountpoint: string): Promise<Map<string, string>> {
  await mkdir(mountpoint, { recursive: true });
  await run('mount', ['-t', 'ext4', '-o', 'loop', image, mountpoint]);
  try {
    const folder = join(mountpoint, 'upper/workspace');
    const found = new Map<string, string>();
    // A cut that comes early enough takes the folder itself.
    const names = existsSync(folder) ? await readdir(folder) : [];
    for (const name of names) {
      found.set(name, digest(await readFile(join(folder, name))));
    }
    return found;
  } finally {
    await run('umount', [mountpoint]);
  }
}

/** Fails when the file system is not sound. */
export async function check(image: string): Promise<void> {
  await run('e2fsck', ['-f', '-n', image]).catch((error: { stdout?: string }) => {
    throw new Error(`the file system of ${image} is not sound: ${error.stdout}`);
  });
}

/** A stopped sandbox's disk is unmounted by the kernel in its own time. */
export async function released(image: string): Promise<void> {
  const deadline = Date.now() + RELEASED_WITHIN_MS;
  while (globSync('/sys/block/loop*/loop/backing_file').some((file) => backingOf(file) === image)) {
    if (Date.now() > deadline) throw new Error(`${image} is still in use`);
    await sleep(20);
  }
}

/** '' where the loop device has gone meanwhile. */
function backingOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}

export function digest(content: Buffer): string {
  return content.length === 0 ? '' : createHash('sha256').update(content).digest('hex');
}
