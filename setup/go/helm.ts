/**
 * Builds Helm, which the tests of the chart run, once per version, in <cache>/helm/<version>/.
 *
 * Invariant: the folder appears once the program has been run successfully.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { command, step } from '../command.ts';
import { findGo } from './go.ts';
import { HELM, helmProgram, helmStore } from './helm-version.ts';

const MODULE = 'helm.sh/helm/v4/cmd/helm';

await step('helm', main);

async function main(): Promise<void> {
  if (existsSync(helmProgram)) return;
  console.log('helm: building the program that installs charts, which takes some minutes');
  await mkdir(helmStore, { recursive: true, mode: 0o700 });
  for (const name of await readdir(helmStore)) await rm(join(helmStore, name), { recursive: true });
  await build(await findGo(helmStore));
  await rm(join(helmStore, 'go'), { recursive: true, force: true });
}

/** Keeps Go's own caches inside the work folder, since they are large and nothing else uses them. */
async function build(go: string): Promise<void> {
  const work = await mkdtemp(join(helmStore, '.work-'));
  try {
    await command(go, ['install', '-trimpath', '-ldflags=-s -w', `${MODULE}@${HELM}`], {
      env: {
        GOPATH: join(work, 'go'),
        GOCACHE: join(work, 'cache'),
        GOBIN: join(work, 'made'),
        GOFLAGS: '-modcacherw',
        GOTOOLCHAIN: 'local',
        CGO_ENABLED: '0',
      },
    });
    await command(join(work, 'made/helm'), ['version']);
    await rename(join(work, 'made'), dirname(helmProgram));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
