/**
 * The Node distribution for a processor: the one that npm installed here, or for another processor the same version,
 * fetched from npm's registry into the cache and checked by package-lock.json.
 *
 * Invariant: a folder in the cache is complete, since it is renamed into place last.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';
import { command } from '../command.ts';
import { isForeign, type Processor } from './processor.ts';

const home = join(import.meta.dirname, '../..');

interface Locked {
  version: string;
  integrity: string;
}

/** @returns the folder with bin/ and include/. */
export async function nodeOf(processor: Processor): Promise<string> {
  const name = `node-linux-${processor.name}`;
  if (!isForeign(processor)) return join(home, 'node_modules', name);
  const locked = await lockedOf(name);
  const store = join(defaultCacheDir(), 'foreign-node');
  const folder = join(store, `${processor.name}-${locked.version}`);
  if (!existsSync(folder)) await fetchNode(name, locked, store, folder);
  return folder;
}

async function lockedOf(name: string): Promise<Locked> {
  const lock: { packages: Record<string, Locked> } = JSON.parse(
    await readFile(join(home, 'package-lock.json'), 'utf8'),
  );
  const locked = lock.packages[`node_modules/${name}`];
  if (!locked) throw new Error(`package-lock.json has no ${name}`);
  return locked;
}

async function fetchNode(
  name: string,
  { version, integrity }: Locked,
  store: string,
  folder: string,
): Promise<void> {
  await mkdir(store, { recursive: true, mode: 0o700 });
  const work = await mkdtemp(join(store, '.work-'));
  try {
    await command('npm', ['pack', `${name}@${version}`, '--loglevel=error', `--pack-destination=${work}`]);
    const file = join(work, `${name}-${version}.tgz`);
    const digest = createHash('sha512').update(await readFile(file));
    if (`sha512-${digest.digest('base64')}` !== integrity)
      throw new Error(`${name} ${version} is not what package-lock.json names`);
    const root = join(work, 'root');
    await mkdir(root);
    const how = ['--no-same-owner', '--strip-components=1', '--directory', root];
    await command('tar', ['--extract', '--file', file, ...how]);
    await command('sync', ['--file-system', root]);
    await rename(root, folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
