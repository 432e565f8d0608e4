/** Cache folder: everything in it can be built or downloaded anew, such as `base/` and `runc/`. */
import { homedir } from 'node:os';
import { join } from 'node:path';

export function defaultCacheDir(env: NodeJS.ProcessEnv = process.env): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'sandhaven');
}
