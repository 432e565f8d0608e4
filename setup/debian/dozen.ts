/**
 * Makes an apt repository of the packages that a test installs in the base image, with all that they draw in: 150 MB of Debian's.
 *
 * Invariant: the archive of an image appears once it is whole.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';
import { readImageRecord } from '../../src/runtime/images/registry/record.ts';
import { command, step } from '../command.ts';
import { DOZEN, dozenArchive, dozenStore } from './dozen-packages.ts';
import { downloadInstallation } from './packages.ts';

await step('dozen', main);

async function main(): Promise<void> {
  const base = join(defaultCacheDir(), 'base/current');
  const image = await readImageRecord(base);
  if (!image) throw new Error('there is no base image (run make image)');
  const archive = dozenArchive(image.digest);
  if (existsSync(archive)) return;
  console.log('dozen: fetching a dozen packages, and what they need, from Debian');
  await mkdir(dozenStore, { recursive: true, mode: 0o700 });
  for (const name of await readdir(dozenStore)) await rm(join(dozenStore, name), { recursive: true });
  const work = await mkdtemp(join(dozenStore, '.work-'));
  try {
    const files = await downloadInstallation(work, 'trixie', DOZEN, join(base, 'rootfs'));
    const index = join(work, 'Packages');
    await writeFile(index, (await Promise.all(files.map(entryOf))).join('\n'));
    const made = join(work, 'dozen.tar');
    await command('tar', [
      '-cf',
      made,
      '-C',
      work,
      'Packages',
      '-C',
      join(work, 'cache/archives'),
      ...files.map((file) => basename(file)),
    ]);
    await command('sync', [made]);
    await rename(made, archive);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Of a repository's index. */
async function entryOf(file: string): Promise<string> {
  const content = await readFile(file);
  const digest = createHash('sha256').update(content).digest('hex');
  const fields = (await command('dpkg-deb', ['--field', file])).trimEnd();
  return `${fields}\nFilename: ./${basename(file)}\nSize: ${content.length}\nSHA256: ${digest}\n`;
}
