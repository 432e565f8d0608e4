/**
 * Unpacks Debian's Prometheus, which tests of the metrics run, into a root of its own.
 *
 * Invariant: the folder appears once both programs have been run successfully.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { command, step } from '../command.ts';
import { downloadPackages, unpackPackages } from './packages.ts';
import { PROMETHEUS, prometheusFolder, prometheusStore } from './prometheus-program.ts';

await step('prometheus', main);

async function main(): Promise<void> {
  if (existsSync(prometheusFolder)) return;
  console.log('prometheus: fetching it from Debian');
  await mkdir(prometheusStore, { recursive: true, mode: 0o700 });
  for (const name of await readdir(prometheusStore))
    await rm(join(prometheusStore, name), { recursive: true });
  const work = await mkdtemp(join(prometheusStore, '.work-'));
  const root = join(work, 'root');
  try {
    await mkdir(root);
    const { suite, packages } = PROMETHEUS;
    await unpackPackages(await downloadPackages(work, suite, packages), root);
    for (const program of ['prometheus', 'promtool'])
      await command(join(root, 'usr/bin', program), ['--version']);
    await command('sync', ['--file-system', root]);
    await rename(root, prometheusFolder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
