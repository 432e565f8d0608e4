/**
 * Provides a QEMU that translates what another processor changes meanwhile without fault: one of 8.1 or newer, which locks
 * a page before it translates it (commit deba78709a, “accel/tcg: Always lock pages before translation”). Under an older one
 * an emulated kernel that patches its own code took one exception after the other without end, and Node ran into
 * breakpoints.
 *
 * The machine's own serves where it is new enough. Else one of the backports of the machine's Debian lies in the
 * cache; it has the libraries and the firmware of the machine's own, which stays unchanged.
 */
import { existsSync } from 'node:fs';
import { glob, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultCacheDir } from '../../../src/runtime/images/cache-dir.ts';
import { command } from '../../command.ts';
import type { Processor } from '../../processors/processor.ts';
import { downloadPackages, unpackPackages } from '../packages.ts';

export interface Emulator {
  program: string;
  /** Options that name its own data before the machine's. */
  options: string[];
}

/** Debian's package of the emulators of a processor. */
const PACKAGES: Record<Processor['kernel'], string> = {
  x86_64: 'qemu-system-x86',
  aarch64: 'qemu-system-arm',
};

/** @returns The emulator that `ensureEmulator` has found or fetched. */
export function emulatorOf({ kernel }: Processor): Emulator {
  const folder = fetchedFolder(kernel);
  const program = `qemu-system-${kernel}`;
  if (!existsSync(folder)) return { program, options: [] };
  return { program: join(folder, 'usr/bin', program), options: ['-L', join(folder, 'usr/share/qemu')] };
}

/** Rejects when neither the machine nor its backports have a sound one. */
export async function ensureEmulator(processor: Processor): Promise<void> {
  if (await isSound(emulatorOf(processor).program)) return;
  const folder = fetchedFolder(processor.kernel);
  await mkdir(join(folder, '..'), { recursive: true, mode: 0o700 });
  // Of an earlier version, and of killed set-ups.
  for await (const stale of glob(`${folder}{,.build-*}`)) await rm(stale, { recursive: true });
  const suite = `${await codename()}-backports`;
  console.log(`machines: fetching a QEMU without the faults of the machine’s own from ${suite}`);
  const work = await mkdtemp(`${folder}.build-`);
  try {
    const names = [PACKAGES[processor.kernel], 'qemu-system-common', 'qemu-system-data'];
    const root = join(work, 'root');
    await unpackPackages(await downloadPackages(work, suite, names), root);
    if (!(await isSound(join(root, 'usr/bin', `qemu-system-${processor.kernel}`)))) {
      throw new Error(`the QEMU of ${suite} does not run here, or is older than 8.1`);
    }
    await command('sync', ['--file-system', root]);
    await rename(root, folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function fetchedFolder(kernel: Processor['kernel']): string {
  return join(defaultCacheDir(), 'qemu', kernel);
}

async function isSound(program: string): Promise<boolean> {
  const said = await command(program, ['--version']).catch(() => '');
  const [, major = 0, minor = 0] = (/version (\d+)\.(\d+)/.exec(said) ?? []).map(Number);
  return major > 8 || (major === 8 && minor >= 1);
}

async function codename(): Promise<string> {
  const release = await readFile('/etc/os-release', 'utf8');
  return /^VERSION_CODENAME=(\S+)$/m.exec(release)?.[1] ?? 'stable';
}
