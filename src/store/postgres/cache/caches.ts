/** The caches of one store, and the news that empty them. */
import type { Store } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import type { Sandbox } from '../../../model/sandbox.ts';
import type { Caller } from '../../../model/user.ts';
import { cachedCallers } from './cached-callers.ts';
import { cachedSandboxes } from './cached-sandboxes.ts';
import type { News } from './news.ts';
import { RowCache } from './row-cache.ts';

export interface Caches {
  /** The store with caches in front of what every call reads. */
  before(store: Store): Store;
  /** From here on the news arrive; nothing cached is used while they are not current. */
  open(isCurrent?: () => boolean): void;
  /** No news arrive any more. */
  close(): void;
  hear(news: News): void;
}

export function createCaches(): Caches {
  const { sandboxBytes, callerBytes } = limits.postgres.cache;
  const sandboxes = new RowCache<Sandbox>({
    mostBytes: sandboxBytes,
    bytesOf: bytesOfSandbox,
    rowOf: ({ id }) => id,
  });
  const callers = new RowCache<Caller>({
    mostBytes: callerBytes,
    bytesOf: () => BYTES_OF_CALLER,
    rowOf: ({ keyId }) => keyId,
  });
  return {
    before: (store) => ({
      ...store,
      ...cachedCallers(store, callers, () => store.replicas.heard()),
      sandboxes: cachedSandboxes(store.sandboxes, sandboxes),
    }),
    open(isCurrent) {
      sandboxes.open(isCurrent);
      callers.open(isCurrent);
    },
    close() {
      sandboxes.close();
      callers.close();
    },
    hear(news) {
      if (news === 'callers') callers.forgetAll();
      else sandboxes.forget(news.sandbox);
    },
  };
}

const BYTES_OF_CALLER = 1_024;
/** All but what its user gave: env vars and labels. */
const BYTES_OF_SANDBOX = 2_048;

function bytesOfSandbox({ envVars, labels }: Sandbox): number {
  const texts = [envVars, labels].flatMap((map) => Object.entries(map).flat());
  return texts.reduce((sum, text) => sum + 2 * text.length, BYTES_OF_SANDBOX);
}
