/** The caches of one store in front of its reads, and the news that empty them. */
import { hash } from 'node:crypto';
import type {
  KeyStore,
  SandboxStore,
  Store,
  TeamStore,
  UserDeletionStore,
  UserStore,
} from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import type { Sandbox } from '../../../model/sandbox.ts';
import type { Caller } from '../../../model/user.ts';
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

interface Cached {
  keys: KeyStore;
  users: UserStore;
  teams: TeamStore;
  userDeletions: UserDeletionStore;
}

/** Keys and users with a cache in front of `callerOf`. A change of any key or user forgets all callers: it is rare. */
export function cachedCallers(
  { keys, users, teams, userDeletions }: Cached,
  cache: RowCache<Caller>,
  heard: () => Promise<void>,
): Cached {
  const writing = async <T>(write: Promise<T>): Promise<T> => {
    try {
      return await write;
    } finally {
      cache.forgetAll();
    }
  };
  /** Other replicas let in whom they remember, until they have heard. */
  const ending = async <T>(write: Promise<T>): Promise<T> => {
    const written = await writing(write);
    await heard();
    return written;
  };
  return {
    keys: {
      async callerOf(apiKey, now) {
        // The cache holds no key in plain. A look at a hash tells nothing of others by its time.
        const name = hash('sha256', apiKey, 'hex');
        const caller = await cache.get(name, () => keys.callerOf(apiKey, now));
        if (!caller || (caller.keyExpiresAt !== null && caller.keyExpiresAt <= now)) return null;
        return caller;
      },
      add: (userId, apiKey, details) => writing(keys.add(userId, apiKey, details)),
      revoke: (id, now) => ending(keys.revoke(id, now)),
      find: (id) => keys.find(id),
      list: (userId, page) => keys.list(userId, page),
      countLive: (userId, now) => keys.countLive(userId, now),
      countOpening: (userId, now) => keys.countOpening(userId, now),
      touch: (used) => keys.touch(used),
    },
    users: {
      insertUser: (account) => writing(users.insertUser(account)),
      updateUser: (id, change) => ending(users.updateUser(id, change)),
      firstUser: () => users.firstUser(),
      findUser: (idOrEmail) => users.findUser(idOrEmail),
      listUsers: (page) => users.listUsers(page),
    },
    userDeletions: {
      begin: (...given) => ending(userDeletions.begin(...given)),
      taken: (...given) => userDeletions.taken(...given),
      finish: (id, now) => ending(userDeletions.finish(id, now)),
      owned: (id) => userDeletions.owned(id),
      underWay: () => userDeletions.underWay(),
      find: (idOrEmail) => userDeletions.find(idOrEmail),
    },
    teams: {
      // Its keys go with it.
      remove: (id) => ending(teams.remove(id)),
      insert: (team) => teams.insert(team),
      find: (idOrName) => teams.find(idOrName),
      list: (userId, page) => teams.list(userId, page),
      update: (id, change) => teams.update(id, change),
      members: (id) => teams.members(id),
      setMember: (id, userId, role, now) => teams.setMember(id, userId, role, now),
      removeMember: (id, userId) => teams.removeMember(id, userId),
      membership: (idOrName, userId) => teams.membership(idOrName, userId),
    },
  };
}

/** Sandboxes with a cache in front of `get` and `find`. Callers do not change what they get. */
function cachedSandboxes(store: SandboxStore, cache: RowCache<Sandbox>): SandboxStore {
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
