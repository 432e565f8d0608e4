/**
 * Times what an archive and a restore do with the bytes of a packed disk, and what encryption adds, on files below --folder.
 *
 * bench/parts/archive-encryption.ts [--megabytes N] [--rounds N] [--folder DIR]
 *
 * The disk's content is random, so zstd cannot make it smaller: the most bytes to encrypt for a disk of that size.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createArchiveEncryption } from '../../src/runtime/archives/protection.ts';
import { createEncryptedFiles } from '../../src/runtime/oci/disk/archives.ts';
import { run } from '../base/command.ts';
import { timed } from '../base/interleave.ts';
import { summarize } from '../base/statistics.ts';

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
    const works = worksIn(folder);
    await fill(join(folder, 'disk.img'), megabytes);
    for (const [name, { plain, beyond }] of Object.entries(works)) {
      const samples: [plain: number[], encrypted: number[]] = [[], []];
      for (let round = 0; round < Number(values.rounds); round++) {
        const ms = await timed(plain);
        samples[0].push(ms);
        samples[1].push(ms + (await timed(beyond)));
      }
      const [without, including] = samples.map((times) => rateOf(megabytes, times));
      console.log(`${name}: plain ${without}, encrypted ${including}`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

interface Work {
  plain(): Promise<unknown>;
  /** Work of encryption besides. */
  beyond(): Promise<unknown>;
}

/** The restore uses what the archive has left. The programs are those that the engine runs. */
function worksIn(folder: string): Record<'archive' | 'restore', Work> {
  const at = (name: string) => join(folder, name);
  const [plain, sealed] = [at('plain'), at('sealed')];
  const key = { key: randomBytes(32), keyId: '0123456789abcdef' };
  const files = createEncryptedFiles(createArchiveEncryption(key, true));
  const packed = ['--sparse', '--use-compress-program', 'zstd --threads=0', '--file', plain];
  const tar = [...packed, '--directory', folder];
  const digest = () => run('sha256sum', ['--binary', plain]);
  return {
    archive: {
      async plain() {
        await run('tar', ['--create', '--format=gnu', ...tar, 'disk.img']);
        await run('zstd', ['--test', '--quiet', plain]);
        await digest();
      },
      beyond: () => files.seal(ID, plain, sealed),
    },
    restore: {
      async plain() {
        await digest();
        await run('tar', ['--extract', ...tar, 'disk.img']);
      },
      beyond: () => files.open(ID, sealed, at('opened')),
    },
  };
}

function rateOf(megabytes: number, times: number[]): string {
  return `${Math.round((1_000 * megabytes) / summarize(times).median)} MB/s`;
}

async function fill(path: string, megabytes: number): Promise<void> {
  const file = await open(path, 'w');
  for (let written = 0; written < megabytes; written++) await file.write(randomBytes(1_000_000));
  await file.sync();
  await file.close();
}

await main();
