/**
 * Builds the S3 server that tests of archives run against, once per version, in <cache>/versitygw/<version>/.
 *
 * Invariant: the folder appears once the program has been run successfully.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';
import { command, step } from '../command.ts';
import { findGo } from './go.ts';

const MODULE = 'github.com/versity/versitygw/cmd/versitygw';
const VERSION = 'v1.8.0';

const store = join(defaultCacheDir(), 'versitygw');
const final = join(store, VERSION);

await step('versitygw', main);

async function main(): Promise<void> {
  if (existsSync(join(final, 'versitygw'))) return;
  console.log('versitygw: building the S3 server of the tests, which takes some minutes');
  await mkdir(store, { recursive: true, mode: 0o700 });
  for (const name of await readdir(store)) await rm(join(store, name), { recursive: true });
  await build(await findGo(store));
  await rm(join(store, 'go'), { recursive: true, force: true });
}

/** Keeps Go's own caches inside the work folder, since they are large and nothing else uses them. */
async function build(go: string): Promise<void> {
  const work = await mkdtemp(join(store, '.work-'));
  try {
    await command(go, ['install', '-ldflags=-s -w', `${MODULE}@${VERSION}`], {
      env: {
        GOPATH: join(work, 'go'),
        GOCACHE: join(work, 'cache'),
        GOBIN: join(work, 'made'),
        GOFLAGS: '-modcacherw',
        GOTOOLCHAIN: 'local',
        CGO_ENABLED: '0',
      },
    });
    await command(join(work, 'made/versitygw'), ['--version']);
    await rename(join(work, 'made'), final);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
