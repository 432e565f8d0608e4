/**
 * Exits with 0 when node_modules matches package-lock.json, by npm's own record of what it installed: here, or in the
 * folder that is given, such as `web`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Entry {
  version?: string;
  optional?: boolean;
}

const home = join(import.meta.dirname, '..', process.argv[2] ?? '');
const wanted = packagesOf('package-lock.json');
const installed = packagesOf('node_modules/.package-lock.json');

const differs = Object.entries(wanted).filter(([path, { version, optional }]) => {
  const there = installed[path];
  return there ? there.version !== version : path !== '' && !optional;
});
process.exit(differs.length === 0 ? 0 : 1);

function packagesOf(file: string): Record<string, Entry> {
  return JSON.parse(readFileSync(join(home, file), 'utf8')).packages;
}
