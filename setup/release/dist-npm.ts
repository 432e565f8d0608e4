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

const home = join(import.meta.dirname, '..', '..');
const tsc = join(home, 'node_modules', '.bin', 'tsc');

/** Folders of the packages. */
const packages = ['sdk', 'packages/mcp'];

if (import.meta.main) {
  await step('npm packages', async () => {
    const folder = join(home, 'dist');
    for (const name of await packAll(folder)) console.log(`dist/${name}`);
  });
}

/** Resolves to the names of the files in the folder, SHA256SUMS aside. */
export async function packAll(folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const names: string[] = [];
  for (const source of packages) names.push(...(await pack(join(home, source), folder)));
  await addChecksums(folder, names);
  return names;
}

async function pack(source: string, folder: string): Promise<string[]> {
  const stage = await mkdtemp(join(tmpdir(), 'sandhaven-npm-'));
  try {
    await command(process.execPath, [tsc, '-p', source, '--outDir', join(stage, 'dist')], { cwd: home });
    for (const file of ['package.json', 'README.md', 'LICENSE'])
      await copyFile(join(source, file), join(stage, file));
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
