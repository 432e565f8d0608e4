/**
 * Times what an archive and a restore do with the bytes of a packed disk, and what encryption adds, on files below --folder.
 *
 * bench/archive-encryption.ts [--megabytes N] [--rounds N] [--folder DIR]
 *
 * The disk's content is random, so zstd cannot make it smaller: the most bytes to encrypt for a disk of that size.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createArchiveEncryption } from '../src/runtime/archives/encryption/archive-encryption.ts';
import { createEncryptedFiles } from '../src/runtime/oci/disk/encrypted-files.ts';
import { run } from './command.ts';
import { timed } from './interleave.ts';
import { summarize } from './statistics.ts';

const ID = 'sb_0123456789abcdef';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      megabytes: { type: 'string', default: '1000' },
      rounds: { type: 'string', default: '5' },
      folder: { type: 'string', default: tmpdir() },
    },
  });
  const megabytes = Number(values.megabytes);
  const folder = await mkdtemp(join(values.folder, 'sandhaven-bench-'));
  try {
    const steps = stepsIn(folder);
    await fill(join(folder, 'disk.img'), megabytes);
    const samples = new Map(Object.keys(steps).map((name) => [name, [] as number[]]));
    for (let round = 0; round < Number(values.rounds); round++)
      for (const [name, step] of Object.entries(steps)) samples.get(name)?.push(await timed(step));
    for (const [name, times] of samples) {
      const { median } = summarize(times);
      console.log(`${name}: ${Math.round(median)} ms, ${Math.round((1_000 * megabytes) / median)} MB/s`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** In the order in which each needs the other's file. The programs are those that the engine runs. */
function stepsIn(folder: string): Record<string, () => Promise<unknown>> {
  const [plain, sealed, opened] = ['plain', 'sealed', 'opened'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const files = createEncryptedFiles(
    createArchiveEncryption({ key: randomBytes(32), keyId: '0123456789abcdef' }, true),
  );
  const tar = [
    '--sparse',
    '--use-compress-program',
    'zstd --threads=0',
    '--file',
    plain,
    '--directory',
    folder,
  ];
  return {
    'archive, plain': async () => {
      await run('tar', ['--create', '--format=gnu', ...tar, 'disk.img']);
      await run('zstd', ['--test', '--quiet', plain]);
      await run('sha256sum', ['--binary', plain]);
    },
    'archive, beyond that': () => files.seal(ID, plain, sealed),
    'restore, plain': async () => {
      await run('sha256sum', ['--binary', plain]);
      await run('tar', ['--extract', ...tar, 'disk.img']);
    },
    'restore, beyond that': () => files.open(ID, sealed, opened),
  };
}

async function fill(path: string, megabytes: number): Promise<void> {
  const file = await open(path, 'w');
  for (let written = 0; written < megabytes; written++) await file.write(randomBytes(1_000_000));
  await file.sync();
  await file.close();
}

await main();
