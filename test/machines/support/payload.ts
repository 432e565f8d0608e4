/** The disk that brings this checkout into a machine, as /srv: what is built here, its packages, and the images and runc of the cache. Another brings packages alone. */
import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { machinesStore } from '../../../setup/debian/machines/recipe.ts';
import { productionPackages } from '../../../setup/images/production-packages.ts';
import { hostProcessor, type Processor } from '../../../setup/processors/processor.ts';
import { defaultCacheDir } from '../../../src/runtime/images/cache-dir.ts';

const run = promisify(execFile);
const home = join(import.meta.dirname, '../../..');
const release = `native/target/${hostProcessor.rust}/release`;

/** They look for traces of sandboxes, and at a machine, inside as on this host. */
const looks = ['test/support/host.ts', 'test/isolation/runtimes/machine-on-host.ts'];

/** Room for what tests write there; its bytes come as they are written. */
const BYTES = 32 * 1024 ** 3;

export interface Payload {
  /** A raw ext4 file system. */
  disk: string;
  remove(): Promise<void>;
}

export function makePayload(): Promise<Payload> {
  return makeDisk(hostProcessor, gather);
}

/** Packages for a processor, which `make dist` left in dist/. */
export function makePackagesDisk(processor: Processor): Promise<Payload> {
  return makeDisk(processor, (root) => gatherPackages(root, processor));
}

export function packagesOf({ debian }: Processor): string[] {
  return globSync(`dist/*_${debian}.deb`, { cwd: home });
}

async function makeDisk(processor: Processor, gather: (root: string) => Promise<void>): Promise<Payload> {
  // Beside the images of the cache: their files are linked, not copied.
  const folder = await mkdtemp(join(machinesStore(processor), 'payload-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const root = join(folder, 'root');
    await gather(root);
    const disk = join(folder, 'srv.img');
    await run('truncate', ['--size', String(BYTES), disk]);
    await run('mke2fs', ['-q', '-t', 'ext4', '-b', '4096', '-m', '0', '-d', root, disk]);
    await rm(root, { recursive: true });
    return { disk, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function gather(root: string): Promise<void> {
  const programs = ['agent', 'egress', 'launcher', 'unpack'].map((name) => `${release}/sandhaven-${name}`);
  const packages = [...(await productionPackages(home)), dirname(dirname(hostProcessor.node))];
  for (const path of [
    'bin',
    'src',
    'web/dist',
    'packages/dist',
    'package.json',
    ...looks,
    ...programs,
    ...packages,
  ]) {
    // A package inside another came with it.
    if (!existsSync(join(root, 'checkout', path)))
      await copy(join(home, path), join(root, 'checkout', path), []);
  }
  await gatherPackages(root, hostProcessor);
  for (const name of ['base', 'runc']) {
    const from = join(defaultCacheDir(), name);
    if (existsSync(from)) await copy(from, join(root, 'cache', name), ['--link']);
  }
}

async function gatherPackages(root: string, processor: Processor): Promise<void> {
  const images = globSync(`dist/sandhaven-standalone_*_${processor.debian}.tar`, { cwd: home });
  for (const file of [...packagesOf(processor), ...images]) {
    await copy(join(home, file), join(root, 'packages', basename(file)), []);
  }
}

async function copy(from: string, to: string, options: string[]): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await run('cp', ['--archive', '--no-target-directory', ...options, from, to]);
}
