/** `make dist`: the Debian packages in dist/, with their checksums. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { arch, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { version } from '../../../src/version.ts';
import { step } from '../../command.ts';
import { lastCommit } from '../../images/commit.ts';
import { makeBaseImagePackage } from './base-image-package.ts';
import { processors } from './processor.ts';
import { sbom } from './sbom.ts';
import { type Made, makeServicePackage } from './service-package.ts';

const home = join(import.meta.dirname, '../../..');

/** All that is in the packages, or makes them. */
const CONTENTS = [
  'bin',
  'deploy/debian',
  'images/base',
  'native',
  'package-lock.json',
  'package.json',
  'setup',
  'src',
  'web',
];

await step('packages', async () => {
  const processor = processors[arch()];
  if (!processor) throw new Error(`packages are made for ${Object.keys(processors).join(' and ')} alone`);
  const { epoch } = await lastCommit(home, CONTENTS);
  const dist = join(home, 'dist');
  const made: Made = { home, dist, version, epoch, processor };
  const files: string[] = [];
  for (const make of [makeServicePackage, makeBaseImagePackage]) {
    const file = await inFolder((work) => make(work, made));
    files.push(file);
    console.log(`dist/${basename(file)}: ${((await stat(file)).size / 1e6).toFixed(1)} MB`);
  }
  const parts = join(dist, `sandhaven_${version}_${processor.debian}.cdx.json`);
  await writeFile(parts, await sbom(made));
  files.push(parts);
  const sums = await Promise.all(files.map(async (file) => `${await digestOf(file)}  ${basename(file)}\n`));
  await writeFile(join(dist, 'SHA256SUMS'), sums.join(''));
});

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'sandhaven-package-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
