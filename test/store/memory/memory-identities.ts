/** Identities in memory. */
import type { IdentityStore, OneTimeProof, UserStore } from '../../../src/control/ports/index.ts';
import type {
  Identity,
  IdentityProviderSession,
  LinkedIdentity,
} from '../../../src/model/access/identity.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import { memoryWaysIn } from './memory-ways-in.ts';

/** @param endSignIns Removes the sign-ins whose session is ended; returns their ids. */
export function memoryIdentities(
  users: UserStore,
  endSignIns: (isEnded: (session: IdentityProviderSession) => boolean) => string[],
): IdentityStore {
  let rows: LinkedIdentity[] = [];
  const ways = memoryWaysIn(users);
  ways.count('identities', (userId) => rows.filter((row) => row.userId === userId).length);
  let used: { hash: Buffer; expiresAt: number }[] = [];
  const find = ({ issuer, subject }: Identity) =>
    rows.find((row) => row.issuer === issuer && row.subject === subject);
  const use = ({ hash, expiresAt, now }: OneTimeProof): boolean => {
    used = used.filter((one) => one.expiresAt > now);
    if (used.some((one) => one.hash.equals(hash))) return false;
    used.push({ hash, expiresAt });
    used = used.sort((a, b) => b.expiresAt - a.expiresAt).slice(0, limits.identity.used);
    return true;
  };
  return {
    async findUserOf(identity) {
      const row = find(identity);
      return row ? users.findUser(row.userId) : null;
    },
    async enrol(account, { issuer, subject }) {
      const known = find({ issuer, subject });
      const user = known && (await users.findUser(known.userId));
      if (user) return user;
      if (rows.length >= limits.identity.identities) throw new SandhavenError('resource_exhausted', 'full');
      // Known at once: two may come side by side.
      const row = { issuer, subject, userId: account.id, linkedAt: account.createdAt, linkedBy: null };
      rows.push(row);
      try {
        await users.insertUser(account);
      } catch (error) {
        rows = rows.filter((other) => other !== row);
        throw error;
      }
      return account;
    },
    async link(identity, by) {
      const known = find(identity);
      if (known && known.userId !== identity.userId) throw new SandhavenError('already_exists', 'linked');
      if (known) return;
      ways.assert(by, identity.userId, identity.linkedAt);
      if (rows.filter(({ userId }) => userId === identity.userId).length >= limits.identity.perUser)
        throw new SandhavenError('resource_exhausted', 'full');
      rows.push({ ...identity, linkedBy: by?.id ?? null });
    },
    async unlink(identity) {
      const known = find(identity) ?? null;
      rows = rows.filter((row) => row !== known);
      return known;
    },
    async listIdentities(userId, { page, pageSize }) {
      const own = rows
        .filter((row) => userId === null || row.userId === userId)
        .toReversed()
        .sort((a, b) => b.linkedAt - a.linkedAt);
      return { identities: own.slice((page - 1) * pageSize, page * pageSize), totalCount: own.length };
    },
    async removeSignInsOf({ issuer, subject, sid }, proof) {
      if (proof && !use(proof)) return null;
      if (subject === null && sid === null) return [];
      return endSignIns((session) => {
        if (session.issuer !== issuer || (subject !== null && session.subject !== subject)) return false;
        return sid === null || session.sid === sid || (session.sid === null && subject !== null);
      });
    },
    useOnce: async (proof) => use(proof),
  };
}
