/**
 * Takes the programs of Debian's xfsprogs that tests of the disk store run, with their libraries. The machine's packages stay
 * unchanged.
 *
 * Invariant: the folder appears once the programs have been run successfully.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { command, step } from '../command.ts';
import { hostProcessor } from '../processors/processor.ts';
import { downloadPackages, unpackPackages } from './packages.ts';
import { XFS_PROGRAMS, XFSPROGS, xfsprogsFolder, xfsprogsStore } from './xfsprogs-programs.ts';

await step('xfsprogs', main);

async function main(): Promise<void> {
  if (existsSync(xfsprogsFolder)) return;
  console.log('xfsprogs: fetching them from Debian');
  await mkdir(xfsprogsStore, { recursive: true, mode: 0o700 });
  for (const name of await readdir(xfsprogsStore)) await rm(join(xfsprogsStore, name), { recursive: true });
  const work = await mkdtemp(join(xfsprogsStore, '.work-'));
  try {
    const made = await takeFrom(work);
    await command('sync', ['--file-system', made]);
    await rename(made, xfsprogsFolder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function takeFrom(work: string): Promise<string> {
  const [root, made] = [join(work, 'root'), join(work, 'made')];
  for (const folder of [root, join(made, 'bin'), join(made, 'lib')]) await mkdir(folder, { recursive: true });
  await unpackPackages(await downloadPackages(work, XFSPROGS.suite, XFSPROGS.packages), root);
  const libraries = join(root, 'usr/lib', hostProcessor.triplet);
  for (const name of await readdir(libraries)) {
    if (/^lib.*\.so\.\d+$/.test(name)) await copyFile(join(libraries, name), join(made, 'lib', name));
  }
  for (const name of XFS_PROGRAMS) {
    const source = ['sbin', 'usr/sbin']
      .map((folder) => join(root, folder, name))
      .find((path) => existsSync(path));
    if (source === undefined) throw new Error(`Debian's xfsprogs has no ${name}`);
    const program = join(made, 'bin', name);
    await copyFile(source, program);
    await command('patchelf', ['--force-rpath', '--set-rpath', '$ORIGIN/../lib', program]);
    await command(program, ['-V']);
  }
  return made;
}
