/**
 * The command line as an npm package: the compiled sources that it loads, at the places that they have in the checkout, and
 * the npm packages that they use inside it. So an install of it asks no registry.
 */
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { copyPackage } from '../images/service-files.ts';

/** What the program finds by a path of its own. */
const beside = ['package.json', 'bin/sandhaven-askpass'];

/**
 * Copies the modules that the program loads, now or later, from all that the compiler wrote.
 *
 * @returns the npm packages that they name.
 */
export async function copyLoaded(from: string, to: string, entry: string): Promise<Set<string>> {
  const packages = new Set<string>();
  const loaded = new Set([entry]);
  for (const file of loaded) {
    const text = await readFile(join(from, file), 'utf8');
    await mkdir(dirname(join(to, file)), { recursive: true });
    await copyFile(join(from, file), join(to, file));
    for (const target of targetsOf(text)) {
      if (target.startsWith('.')) loaded.add(normalize(join(dirname(file), target)));
      else if (!target.startsWith('node:')) packages.add(target);
    }
  }
  return packages;
}

/** @param stage Of the package, with its modules in dist/. */
export async function completeCli(home: string, stage: string, used: Set<string>): Promise<void> {
  await mkdir(join(stage, 'dist', 'bin'));
  for (const path of beside) await copyFile(join(home, path), join(stage, 'dist', path));
  const { dependencies: wanted = {} } = await manifestOf(join(stage, 'package.json'));
  const { dependencies: installed = {} } = await manifestOf(join(home, 'package.json'));
  const needed = Object.fromEntries([...used].toSorted().map((name) => [name, installed[name]]));
  if (JSON.stringify(wanted) !== JSON.stringify(needed)) {
    throw new Error(`packages/cli/package.json must have these dependencies: ${JSON.stringify(needed)}`);
  }
  // Those that they need in turn are added on the way.
  const inside = new Set(used);
  for (const name of inside) {
    const path = join('node_modules', name);
    const { dependencies = {} } = await manifestOf(join(home, path, 'package.json'));
    for (const next of Object.keys(dependencies)) inside.add(next);
    await copyPackage(join(home, path), join(stage, path));
  }
}

function targetsOf(text: string): string[] {
  const statements = /^(?:import|export)\b(?:[^;'"]*?\bfrom)?\s*['"]([^'"]+)['"]/gm;
  const calls = /\bimport\(['"]([^'"]+)['"]\)/g;
  return [statements, calls].flatMap((form) => [...text.matchAll(form)].map(([, target = '']) => target));
}

async function manifestOf(path: string): Promise<{ dependencies?: Record<string, string> }> {
  return JSON.parse(await readFile(path, 'utf8'));
}
