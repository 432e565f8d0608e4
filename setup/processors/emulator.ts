/**
 * QEMU's emulator of single programs, from Debian: static, so that it works in any root. It runs what a build has to
 * run of another processor; the machine's packages stay unchanged.
 *
 * Invariant: the folder in the cache appears once the emulator in it has been run successfully.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';
import { command } from '../command.ts';
import { downloadPackages, unpackPackages } from '../debian/packages.ts';
import { isForeign, type Processor } from './processor.ts';

/** The newest stable one, whichever this machine has: an emulator gets better with each version. */
const SUITE = 'trixie';

/** Raise it to fetch a newer one. */
const REVISION = 1;

/** @returns the program and its first arguments that run `program` here. */
export async function runnable(processor: Processor, program: string): Promise<[string, string[]]> {
  return isForeign(processor) ? [await emulatorOf(processor), [program]] : [program, []];
}

/** @returns the words before a command that also runs programs of this foreign processor, as a build of its root does. */
export async function emulation(processor: Processor): Promise<[string, ...string[]]> {
  return [join(import.meta.dirname, 'emulated.sh'), processor.kernel, await emulatorOf(processor)];
}

async function emulatorOf({ kernel }: Processor): Promise<string> {
  const store = join(defaultCacheDir(), 'emulator');
  const folder = join(store, `${kernel}-${REVISION}`);
  const name = `qemu-${kernel}`;
  if (existsSync(folder)) return join(folder, name);
  await mkdir(store, { recursive: true, mode: 0o700 });
  const work = await mkdtemp(join(store, '.work-'));
  try {
    const root = join(work, 'root');
    const made = join(work, 'made');
    for (const one of [root, made]) await mkdir(one);
    await unpackPackages(await downloadPackages(work, SUITE, ['qemu-user']), root);
    await copyFile(join(root, 'usr/bin', name), join(made, name));
    await command(join(made, name), ['--version']);
    await command('sync', ['--file-system', made]);
    await rename(made, folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return join(folder, name);
}
