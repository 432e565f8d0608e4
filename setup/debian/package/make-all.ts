/** `make dist`: the Debian packages in dist/, with their checksums. An argument names another processor than the machine's. */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { version } from '../../../src/home.ts';
import { step } from '../../command.ts';
import { lastCommit } from '../../images/commit.ts';
import { hostProcessor, processorOf } from '../../processors/processor.ts';
import { addChecksums } from '../../release/checksums.ts';
import { sbomOfService } from '../../sbom/service-package.ts';
import { makeBaseImagePackage } from './base-image-package.ts';
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
  'packages',
  'sdk',
  'sdk-python',
  'setup',
  'src',
  'web',
];

await step('packages', async () => {
  const processor = processorOf(process.argv[2] ?? hostProcessor.name);
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
  await writeFile(parts, await sbomOfService(made));
  files.push(parts);
  await addChecksums(
    dist,
    files.map((file) => basename(file)),
  );
});

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'sandhaven-package-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
