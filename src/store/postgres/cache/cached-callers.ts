/** Keys and users with a cache in front of `callerOf`. A change of any key or user forgets all callers: it is rare. */
import { hash } from 'node:crypto';
import type { KeyStore, TeamStore, UserDeletionStore, UserStore } from '../../../control/ports/index.ts';
import type { Caller } from '../../../model/user.ts';
import type { RowCache } from './row-cache.ts';

interface Cached {
  keys: KeyStore;
  users: UserStore;
  teams: TeamStore;
  userDeletions: UserDeletionStore;
}

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
