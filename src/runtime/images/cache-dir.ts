/** Cache folder of everything that can be built or downloaded anew: `base/`, `documentdb/`, `runc/` and others. */
import { homedir } from 'node:os';
import { join } from 'node:path';

export function defaultCacheDir(env: NodeJS.ProcessEnv = process.env): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'sandhaven');
}
