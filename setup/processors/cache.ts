/** Folders of the cache for things that each processor has one of. */
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';
import { isForeign, type Processor } from './processor.ts';

/** The machine's own has the plain name, which the service looks for; those of others lie beside it. */
export function cacheFolder(name: string, processor: Processor): string {
  return join(defaultCacheDir(), isForeign(processor) ? `${name}-${processor.debian}` : name);
}
