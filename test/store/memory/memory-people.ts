/** Users and their keys in the plainest way there is. */
import type { Store, UserDeletion } from '../../../src/control/ports/index.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import type { Account, ApiKey } from '../../../src/model/user.ts';
import { memoryTeams, type Owned } from './memory-teams.ts';
import { memoryWaysIn } from './memory-ways-in.ts';

/** Returns what one owner has under a name that another one uses. */
type Taken = (id: string, heirId: string) => string[];

/** @param owned By default, teams own nothing. */
export function memoryPeople(
  owned: Owned = () => ({ sandboxes: 0, snapshots: 0 }),
  taken: Taken = () => [],
): Pick<Store, 'users' | 'teams' | 'keys' | 'userDeletions'> {
  const users = new Map<string, Account>();
  const deletions = new Map<string, UserDeletion>();
  const stored = memoryUsers(users, deletions);
  const { keys, unbind } = memoryKeys(users, memoryWaysIn(stored.users));
  const { teams } = memoryTeams(users, owned, unbind);
  return {
    ...{ ...stored, teams, keys },
    ...memoryDeletions(users, deletions, stored.users, teams, owned, taken),
  };
}

/** What goes with a user by foreign keys stays in memory: nobody finds it. */
function memoryDeletions(
  users: Map<string, Account>,
  deletions: Map<string, UserDeletion>,
  stored: Store['users'],
  teams: Store['teams'],
  owned: Owned,
  taken: Taken,
): Pick<Store, 'userDeletions'> {
  const isFit = async (heirId: string) => {
    const user = users.get(heirId);
    if (!user) return (await teams.find(heirId)) !== null;
    return user.role !== 'viewer' && user.disabledAt === null;
  };
  const nothing = { secrets: 0, webhooks: 0, keys: 0, teams: 0 };
  const isNamed = ({ id, email }: UserDeletion, wanted: string) =>
    id === wanted || email.toLowerCase() === wanted.toLowerCase();
  return {
    userDeletions: {
      owned: async (id) => ({ ...owned(id), ...nothing }),
      async begin(id, deletedBy, begunAt, heirId) {
        const isHeir = [...deletions.values()].some((one) => one.heirId === id && one.endedAt === null);
        if (isHeir || (heirId !== null && !(await isFit(heirId))))
          throw new SandhavenError('failed_precondition', 'unfit');
        const user = await stored.updateUser(id, ({ disabledAt }) => ({ disabledAt: disabledAt ?? begunAt }));
        if (!user) return null;
        const { name, email } = user;
        const known = deletions.get(id) ?? { id, name, email, deletedBy, heirId, begunAt, endedAt: null };
        const begun = { ...known, heirId: heirId ?? known.heirId };
        deletions.set(id, begun);
        return begun;
      },
      taken: async (id, heirId, limit) => taken(id, heirId).slice(0, limit),
      underWay: async () => [...deletions.values()].filter(({ endedAt }) => endedAt === null),
      async finish(id, now) {
        const { sandboxes, snapshots } = owned(id);
        if (sandboxes + snapshots > 0) return false;
        users.delete(id);
        const begun = deletions.get(id);
        if (begun) deletions.set(id, { ...begun, endedAt: begun.endedAt ?? now });
        return true;
      },
      find: async (wanted) => [...deletions.values()].findLast((one) => isNamed(one, wanted)) ?? null,
    },
  };
}

function memoryUsers(
  users: Map<string, Account>,
  deletions: ReadonlyMap<string, UserDeletion>,
): Pick<Store, 'users'> {
  const admins = (all: Iterable<Account>) =>
    [...all].filter(({ role, disabledAt }) => role === 'admin' && disabledAt === null).length;
  const save = (account: Account) => {
    const same = ({ id, email }: Account) =>
      id !== account.id && email.toLowerCase() === account.email.toLowerCase();
    if ([...users.values()].some(same)) throw new SandhavenError('already_exists', 'taken');
    const rest = [...users.values()].filter(({ id }) => id !== account.id);
    if (admins(users.values()) > 0 && admins([...rest, account]) === 0) {
      throw new SandhavenError('failed_precondition', 'last');
    }
    users.set(account.id, structuredClone(account));
  };
  return {
    users: {
      insertUser: async (account) => {
        if (users.has(account.id)) throw new SandhavenError('already_exists', 'taken');
        save(account);
      },
      firstUser: async () => structuredClone([...users.values()][0] ?? null),
      findUser: async (wanted) =>
        structuredClone(
          users.get(wanted) ??
            [...users.values()].find(({ email }) => email.toLowerCase() === wanted.toLowerCase()) ??
            null,
        ),
      listUsers: async ({ page, pageSize }) => ({
        users: structuredClone([...users.values()].slice((page - 1) * pageSize, page * pageSize)),
        totalCount: users.size,
      }),
      updateUser: async (id, change) => {
        const known = users.get(id);
        if (!known) return null;
        const changed = { ...known, ...change(known) };
        if (changed.disabledAt === null && deletions.has(id))
          throw new SandhavenError('failed_precondition', 'being deleted');
        save(changed);
        return structuredClone(users.get(id) ?? null);
      },
    },
  };
}

function memoryKeys(
  users: Map<string, Account>,
  ways: ReturnType<typeof memoryWaysIn>,
): Pick<Store, 'keys'> & { unbind(teamId: string): void } {
  /** By the key itself, oldest first. */
  const keys = new Map<string, ApiKey>();
  let drawn = 0;
  const byId = (id: string) => [...keys.values()].find((key) => key.id === id) ?? null;
  const dead = (key: ApiKey, now: number) =>
    key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now);
  const forget = (userId: string, now: number) => {
    const gone = [...keys]
      .filter(([, key]) => key.userId === userId && dead(key, now))
      .sort(([, a], [, b]) => endOf(b) - endOf(a))
      .slice(limits.keysKeptPerUser);
    for (const [apiKey] of gone) keys.delete(apiKey);
  };
  const live = (userId: string, now: number) =>
    [...keys.values()].filter((key) => key.userId === userId && !dead(key, now));
  ways.count('keys', (userId, now) => live(userId, now).length);
  return {
    unbind(teamId) {
      for (const [apiKey, key] of keys) if (key.teamId === teamId) keys.delete(apiKey);
    },
    keys: {
      add: async (userId, apiKey, { by, ...details }) => {
        if (!users.has(userId)) throw new Error('no such user');
        const known = keys.get(apiKey);
        if (known && known.userId !== userId) throw new SandhavenError('already_exists', 'taken');
        const fresh = {
          id: `key_${(++drawn).toString(16).padStart(16, '0')}`,
          userId,
          ...details,
          scopes: details.scopes ?? null,
          teamId: details.teamId ?? null,
          createdBy: by?.id ?? null,
          lastUsedAt: null,
          revokedAt: null,
        };
        if (!known) ways.assert(by, userId, details.createdAt);
        if (!known) keys.set(apiKey, fresh);
        if (!known) forget(userId, details.createdAt);
        return structuredClone(known ?? fresh);
      },
      callerOf: async (apiKey, now) => {
        const key = keys.get(apiKey);
        const user = users.get(key?.userId ?? '');
        if (!key || !user || user.disabledAt !== null || dead(key, now)) return null;
        ways.enter(user.id, now);
        const { id, name, email, role } = user;
        const bound = key.teamId === null ? {} : { boundTo: key.teamId };
        const { id: keyId, expiresAt: keyExpiresAt, scopes } = key;
        const made = key.createdBy === null ? {} : { keyMadeBy: key.createdBy };
        return { id, name, email, role, keyId, keyExpiresAt, scopes, ...bound, ...made };
      },
      find: async (id) => structuredClone(byId(id)),
      list: async (userId, { page, pageSize }) => {
        const found = [...keys.values()]
          .filter((key) => userId === null || key.userId === userId)
          .reverse()
          .sort((a, b) => b.createdAt - a.createdAt);
        return {
          keys: structuredClone(found.slice((page - 1) * pageSize, page * pageSize)),
          totalCount: found.length,
        };
      },
      countLive: async (userId, now) => live(userId, now).length,
      countOpening: async (userId, now) => live(userId, now).filter(({ teamId }) => teamId === null).length,
      revoke: async (id, now) => {
        const key = byId(id);
        if (key) key.revokedAt ??= now;
        return structuredClone(key);
      },
      touch: async (used) => {
        for (const [id, at] of used) {
          const key = byId(id);
          if (key) key.lastUsedAt = Math.max(at, key.lastUsedAt ?? at);
        }
      },
    },
  };
}

function endOf({ revokedAt, expiresAt }: ApiKey): number {
  return revokedAt ?? expiresAt ?? 0;
}
