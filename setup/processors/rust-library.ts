/**
 * Rust's standard library for another processor, of the same version as Debian's compiler on this machine, into the
 * cache; setup/processors/cargo.sh takes it from there. An argument names the processor.
 *
 * Invariant: a folder in the cache is complete, since it is renamed into place last.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';
import { command, step } from '../command.ts';
import { downloadPackages, unpackPackages } from '../debian/packages.ts';
import { processorOf } from './processor.ts';

/** Debian's compilers: the one that it keeps current for its web browsers, and the regular one. */
const LIBRARY_OF: Record<string, string> = { 'rustc-web': 'libstd-rust-web-dev', rustc: 'libstd-rust-dev' };

await step('rust', async () => {
  const { debian, kernel } = processorOf(process.argv[2] ?? '');
  const release = (await command('rustc', ['--version'])).split(' ')[1];
  const folder = join(defaultCacheDir(), 'rust-library', `${release}-${kernel}`);
  if (existsSync(folder)) return;
  console.log(`rust: fetching the standard library for ${debian} from Debian`);
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  const work = await mkdtemp(join(dirname(folder), '.work-'));
  try {
    const root = join(work, 'root');
    await mkdir(root);
    await unpackPackages(await downloadPackages(work, await suiteHere(), [await library()], debian), root);
    await command('sync', ['--file-system', root]);
    await rename(root, folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
});

/** Libraries of another version are of no use to a compiler. */
async function library(): Promise<string> {
  const found = /^(rustc|rustc-web)\t(\S+)$/m.exec(await command('dpkg-query', ['--show', 'rustc*']));
  const name = LIBRARY_OF[found?.[1] ?? ''];
  if (!found || name === undefined)
    throw new Error(
      'neither rustup nor Debian brought this Rust: add the standard library of the other processor to it',
    );
  return `${name}=${found[2]}`;
}

async function suiteHere(): Promise<string> {
  const codename = /^VERSION_CODENAME=(\S+)$/m.exec(await readFile('/etc/os-release', 'utf8'))?.[1];
  if (codename === undefined) throw new Error('/etc/os-release names no suite of Debian');
  return codename;
}
