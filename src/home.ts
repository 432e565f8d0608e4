/** The home of the program, in which it is installed, and its version. Its modules lie one folder below, in src or joined in bundle. */
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export const home = join(import.meta.dirname, '..');

const manifest: { version: string } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));

export const version = manifest.version;

/**
 * Returns the module that a thread begins with, one of those that `setup/bundle.ts` names.
 *
 * @param name Its path below src, without its ending.
 */
export function threadModule(name: string): URL {
  return new URL(`./${name}${extname(import.meta.filename)}`, import.meta.url);
}
