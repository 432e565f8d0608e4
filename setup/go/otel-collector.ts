/**
 * Builds the collector that tests of traces send to, once per version, in <cache>/otel-collector/<version>/. It is the
 * receiver of OpenTelemetry's collector with a few lines around it: the whole collector takes twice as long to build.
 *
 * Invariant: the folder appears once the program has been run successfully.
 */
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { command, step } from '../command.ts';
import { findGo } from './go.ts';
import { otelCollectorProgram, otelCollectorStore as store } from './otel-collector-version.ts';

const SOURCE = join(import.meta.dirname, 'otel-collector');

await step('otel-collector', main);

async function main(): Promise<void> {
  if (existsSync(otelCollectorProgram)) return;
  console.log('otel-collector: building the collector of the tests, which takes some minutes');
  await mkdir(store, { recursive: true, mode: 0o700 });
  for (const name of await readdir(store)) await rm(join(store, name), { recursive: true });
  await build(await findGo(store));
  await rm(join(store, 'go'), { recursive: true, force: true });
}

/** Keeps Go's own caches inside the work folder, since they are large and nothing else uses them. */
async function build(go: string): Promise<void> {
  const work = await mkdtemp(join(store, '.work-'));
  try {
    // Outside of the checkout, whose own state is no part of the program.
    await cp(SOURCE, join(work, 'source'), { recursive: true });
    await mkdir(join(work, 'made'));
    const program = join(work, 'made/otel-collector');
    await command(go, ['build', '-trimpath', '-ldflags=-s -w', '-o', program, '.'], {
      cwd: join(work, 'source'),
      env: {
        GOPATH: join(work, 'go'),
        GOCACHE: join(work, 'cache'),
        GOFLAGS: '-modcacherw -mod=readonly',
        GOTOOLCHAIN: 'local',
        CGO_ENABLED: '0',
      },
    });
    await command(program, ['--version']);
    await rename(join(work, 'made'), dirname(otelCollectorProgram));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
