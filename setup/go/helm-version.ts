/** Names the version of Helm that tests run, and the folder of the cache that holds it. */
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';

export const HELM = 'v4.3.1';

export const helmStore = join(defaultCacheDir(), 'helm');

export const helmProgram = join(helmStore, HELM, 'helm');
