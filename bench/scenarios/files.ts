/** Copies files in and out: a small one by the tools, a large one by the byte route. Docker copies with `docker cp`. */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../base/command.ts';
import { IDLE, IMAGE } from '../base/docker.ts';
import { interleave, timed } from '../base/interleave.ts';
import type { Bench, Scenario } from '../base/scenario.ts';

const SMALL_ROUNDS = 40;
const SMALL_BYTES = 1_024;
const LARGE_ROUNDS = 8;
const LARGE_PAUSE_MS = 500;
const LARGE_BYTES = 100e6;
const FOLDER = '/workspace';

export const files: Scenario = async (bench) => {
  const { docker, sandhaven } = bench;
  const sandbox = await sandhaven.create();
  const container = await docker.cli('run', '-d', IMAGE, ...IDLE);
  const samples = {
    ...(await small(bench, sandbox, container)),
    ...(await large(bench, sandbox, container)),
  };
  await Promise.all([sandhaven.remove(sandbox), docker.cli('rm', '-f', container)]);
  return { samples };
};

async function small(
  { docker: { cli, api }, sandhaven, folder, rounds }: Bench,
  sandbox: string,
  container: string,
) {
  const content = 'x'.repeat(SMALL_BYTES);
  const { file, tar } = await prepare(folder, 'small', Buffer.from(content));
  const path = `${FOLDER}/small`;
  return interleave(rounds(SMALL_ROUNDS), {
    sandhaven: async () => ({
      writeSmall: await timed(() => sandhaven.writeFile(sandbox, path, content)),
      writeDurable: await timed(() => sandhaven.writeFile(sandbox, path, content, true)),
      readSmall: await timed(async () => expect(content, await sandhaven.readFile(sandbox, path))),
    }),
    docker: async () => ({
      writeSmall: await timed(() => cli('cp', file, `${container}:${path}`)),
      readSmall: await timed(async () => expect(content, await cli('exec', container, 'cat', path))),
    }),
    dockerApi: async () => ({
      writeSmall: await timed(() => api.putArchive(container, FOLDER, tar)),
      readSmall: await timed(() => api.getArchive(container, path)),
    }),
  });
}

/** Incompressible, and from memory or the page cache: neither side waits for the host's disk to read it. */
async function large(
  { docker: { cli, api }, sandhaven, folder, rounds }: Bench,
  sandbox: string,
  container: string,
) {
  const content = randomBytes(LARGE_BYTES);
  const { file, tar } = await prepare(folder, 'large', content);
  const path = `${FOLDER}/large`;
  return interleave(rounds(LARGE_ROUNDS, LARGE_PAUSE_MS), {
    sandhaven: async () => ({
      upload: speed(await timed(() => sandhaven.upload(sandbox, path, content))),
      download: speed(await timed(async () => expect(LARGE_BYTES, await sandhaven.download(sandbox, path)))),
    }),
    docker: async () => ({
      upload: speed(await timed(() => cli('cp', file, `${container}:${path}`))),
      download: speed(await timed(() => cli('cp', `${container}:${path}`, join(folder, 'copy')))),
    }),
    dockerApi: async () => ({
      upload: speed(await timed(() => api.putArchive(container, FOLDER, tar))),
      download: speed(await timed(() => api.getArchive(container, path))),
    }),
  });
}

/** Tars are made ahead of time: packing is the command line's part, not the engine's. */
async function prepare(
  folder: string,
  name: string,
  content: Buffer,
): Promise<{ file: string; tar: Buffer }> {
  const file = join(folder, name);
  await writeFile(file, content);
  await run('tar', ['-C', folder, '-cf', `${file}.tar`, name]);
  return { file, tar: await readFile(`${file}.tar`) };
}

function speed(milliseconds: number): number {
  return LARGE_BYTES / 1e6 / (milliseconds / 1_000);
}

function expect<T>(wanted: T, came: T): void {
  if (wanted !== came)
    throw new Error(`${String(came).slice(0, 100)} came, not ${String(wanted).slice(0, 100)}`);
}
