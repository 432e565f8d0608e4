/**
 * The quick tests, which `make quick` runs: all that start no program, neither themselves nor by anything that they load.
 * They need Node and npm's packages, and no root, native code, image or network. A new test is quick or not by what it
 * imports; there is no list to keep.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { importsOf } from './support/imports.ts';

const root = join(import.meta.dirname, '..');

/** They share one document database, which is started for them. */
export const withDocuments = ['test/documentdb/**/*.test.ts', 'test/walk/documents.test.ts'];

const startingPrograms = new Set([
  'node:child_process',
  'child_process',
  'node:cluster',
  'playwright-core',
  'puppeteer-core',
  '@modelcontextprotocol/client/stdio',
]);

export interface TestFiles {
  quick: string[];
  others: string[];
}

/** Paths below the repository's root. */
export function testFiles(): TestFiles {
  const all = globSync(['test/**/*.test.ts', 'sdk/test/**/*.test.ts'], {
    cwd: root,
    exclude: ['**/node_modules/**'],
  }).toSorted();
  const documents = new Set(globSync(withDocuments, { cwd: root }));
  const quick = all.filter((file) => !documents.has(file) && wayToProgram(file) === null);
  return { quick, others: all.filter((file) => !quick.includes(file)) };
}

/** The imports by which a file comes to what starts programs, which is the last; null when there are none. */
export function wayToProgram(file: string): string[] | null {
  const importers = loadedWith(file);
  let step = [...importers.keys()].find((loaded) => startingPrograms.has(loaded)) ?? null;
  if (step === null) return null;
  const way: string[] = [];
  for (; step !== null; step = importers.get(step) ?? null) way.unshift(step);
  return way;
}

/** A file and all that is loaded with it, files below the root and packages, each with what imports it first. */
export function loadedWith(file: string): Map<string, string | null> {
  const importers = new Map<string, string | null>([[file, null]]);
  for (const loaded of importers.keys()) {
    for (const target of importedBy(loaded)) {
      if (!importers.has(target)) importers.set(target, loaded);
    }
  }
  return importers;
}

const known = new Map<string, string[]>();

/** Without types, which are not loaded, and what only stands in a text. */
function importedBy(file: string): string[] {
  const path = join(root, file);
  if (!file.endsWith('.ts')) return [];
  const targets =
    known.get(file) ??
    importsOf(readFileSync(path, 'utf8'))
      .filter(({ typeOnly }) => !typeOnly)
      .map(({ target }) => (target.startsWith('.') ? normalize(join(dirname(file), target)) : target))
      .filter((target) => !target.endsWith('.ts') || existsSync(join(root, target)));
  known.set(file, targets);
  return targets;
}
