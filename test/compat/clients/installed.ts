/** Where install.sh has put the clients. */
import { execFileSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const caches = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'sandhaven');

/** Returns the folder of a package for Node. */
export function nodePackage(name: string): string {
  return join(caches, 'compat-clients/node_modules', name);
}

/** Returns the Python that has the packages of NAME.txt. */
export function pythonOf(name: string): string {
  return execFileSync(join(import.meta.dirname, 'python-path.sh'), [name])
    .toString()
    .trim();
}
