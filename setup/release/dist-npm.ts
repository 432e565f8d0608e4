/**
 * Packs the npm packages into a folder: each as a tarball with its bill of materials, and SHA256SUMS. They are built beside
 * the sources, from nothing, so no file of an earlier build is shipped. The same sources and npm give the same bytes.
 */
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command, step } from '../command.ts';
import { type Manifest, sbomOf } from '../sbom/npm-package.ts';
import { addChecksums } from './checksums.ts';
import { completeCli, copyLoaded } from './cli-package.ts';

const home = join(import.meta.dirname, '..', '..');
const tsc = join(home, 'node_modules', '.bin', 'tsc');

/** Folders of the packages. */
const packages = ['sdk', 'packages/mcp', 'packages/cli'];

if (import.meta.main) {
  await step('npm packages', async () => {
    const folder = join(home, 'dist');
    for (const name of await packAll(folder)) console.log(`dist/${name}`);
  });
}

/** Resolves to the names of the files in the folder, SHA256SUMS aside. */
export async function packAll(folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const names = (await Promise.all(packages.map((source) => pack(join(home, source), folder)))).flat();
  await addChecksums(folder, names);
  return names;
}

async function pack(source: string, folder: string): Promise<string[]> {
  const stage = await mkdtemp(join(tmpdir(), 'sandhaven-npm-'));
  try {
    for (const file of ['package.json', 'README.md', 'LICENSE'])
      await copyFile(join(source, file), join(stage, file));
    await compile(source, stage);
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
    const [{ filename }] = JSON.parse(await command('npm', args, { cwd: stage })) as [{ filename: string }];
    const manifest: Manifest = JSON.parse(await readFile(join(stage, 'package.json'), 'utf8'));
    const lock = JSON.parse(await readFile(join(home, 'package-lock.json'), 'utf8'));
    const sbom = filename.replace(/\.tgz$/, '.cdx.json');
    await writeFile(join(folder, sbom), sbomOf(manifest, lock, await readFile(join(folder, filename))));
    return [filename, sbom];
  } finally {
    await rm(stage, { recursive: true });
  }
}

async function compile(source: string, stage: string): Promise<void> {
  const dist = join(stage, 'dist');
  const tscInto = (folder: string) =>
    command(process.execPath, [tsc, '-p', source, '--outDir', folder], { cwd: home });
  if (source !== join(home, 'packages/cli')) {
    await tscInto(dist);
    return;
  }
  // The compiler also writes what is imported for its types alone.
  const all = join(stage, 'compiled');
  await tscInto(all);
  await completeCli(home, stage, await copyLoaded(all, dist, 'packages/cli/src/main.js'));
}
