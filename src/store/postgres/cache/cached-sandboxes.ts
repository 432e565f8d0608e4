/** Sandboxes with a cache in front of `get` and `find`. Callers do not change what they get. */
import type { SandboxStore } from '../../../control/ports/index.ts';
import type { Sandbox } from '../../../model/sandbox.ts';
import type { RowCache } from './row-cache.ts';

export function cachedSandboxes(store: SandboxStore, cache: RowCache<Sandbox>): SandboxStore {
  /** Forgets the row also when the write fails: it may have been committed. */
  const writing = async <T>(id: string, write: Promise<T>): Promise<T> => {
    try {
      return await write;
    } finally {
      cache.forget(id);
    }
  };
  return {
    get: (id) => cache.get(`id ${id}`, () => store.get(id)),
    async reread(id) {
      cache.forget(id);
      return cache.get(`id ${id}`, () => store.get(id));
    },
    find: (ownerId, wanted) => cache.get(`of ${ownerId} ${wanted}`, () => store.find(ownerId, wanted)),
    insert: (sandbox, allowance) => writing(sandbox.id, store.insert(sandbox, allowance)),
    update: (id, ...change) => writing(id, store.update(id, ...change)),
    remove: (id, generation) => writing(id, store.remove(id, generation)),
    async claim(match, patch, allowance) {
      const claimed = await store.claim(match, patch, allowance);
      if (claimed) cache.forget(claimed.id);
      return claimed;
    },
    async touch(activity) {
      await store.touch(activity);
      for (const id of activity.keys()) cache.forget(id);
    },
    list: (filter, page) => store.list(filter, page),
    names: (ownerId, limit) => store.names(ownerId, limit),
    createdUnder: (ownerId, key, since) => store.createdUnder(ownerId, key, since),
    all: () => store.all(),
    comparable: (afterId, limit) => store.comparable(afterId, limit),
    inProgress: (afterId, limit) => store.inProgress(afterId, limit),
    schedulable: () => store.schedulable(),
    archives: (afterId, limit) => store.archives(afterId, limit),
    pool: () => store.pool(),
    usage: (ownerId) => store.usage(ownerId),
    promisedDiskGb: () => store.promisedDiskGb(),
  };
}
