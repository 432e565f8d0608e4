/**
 * Cache folder of everything that can be built or downloaded anew: `base/`, `documentdb/`, `runc/` and others. The Debian
 * package names its own, which is the same for the service and for root's shell.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';

export function defaultCacheDir(env: NodeJS.ProcessEnv = process.env): string {
  return env['SANDHAVEN_CACHE_DIR'] || join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'sandhaven');
}
