/** Passkeys and passwords in memory. */
import type { Store } from '../../../src/control/ports/index.ts';
import type { Passkey } from '../../../src/model/access/passkeys.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';

export function memoryCredentials({ users }: Pick<Store, 'users'>): Pick<Store, 'passkeys' | 'passwords'> {
  const rows = new Map<string, Passkey>();
  const of = (userId: string) => [...rows.values()].filter((row) => row.userId === userId);
  return { passkeys: memoryPasskeys(rows, of), passwords: memoryPasswords(users, of) };
}

function memoryPasskeys(rows: Map<string, Passkey>, of: (userId: string) => Passkey[]): Store['passkeys'] {
  const used = new Map<string, number>();
  const byCredential = (id: string) => [...rows.values()].find(({ credentialId }) => credentialId === id);
  return {
    async addPasskey(passkey) {
      if (of(passkey.userId).length >= limits.passkeys.perUser) {
        throw new SandhavenError('resource_exhausted', 'full');
      }
      if (byCredential(passkey.credentialId)) throw new SandhavenError('already_exists', 'known');
      rows.set(passkey.id, { ...passkey });
    },
    listPasskeys: async (userId) => of(userId).sort((a, b) => a.createdAt - b.createdAt),
    findPasskey: async (id) => rows.get(id) ?? null,
    findCredential: async (id) => byCredential(id) ?? null,
    async renamePasskey(id, name) {
      const row = rows.get(id);
      if (row) rows.set(id, { ...row, name });
      return rows.get(id) ?? null;
    },
    async usePasskey(id, counter, now) {
      const row = rows.get(id);
      if (!row || (row.counter >= counter && (row.counter !== 0 || counter !== 0))) return false;
      rows.set(id, { ...row, counter, lastUsedAt: now });
      return true;
    },
    removePasskey: async (id) => rows.delete(id),
    async useChallenge(hash, expiresAt, now) {
      for (const [one, end] of used) if (end <= now) used.delete(one);
      const isNew = !used.has(hash.toString('hex'));
      if (isNew) used.set(hash.toString('hex'), expiresAt);
      return isNew;
    },
  };
}

function memoryPasswords(
  users: Store['users'],
  passkeysOf: (userId: string) => Passkey[],
): Store['passwords'] {
  const rows = new Map<string, { hash: string; changedAt: number; networks: string[] }>();
  return {
    async setPassword(userId, hash, now) {
      rows.set(userId, { hash, changedAt: now, networks: rows.get(userId)?.networks ?? [] });
    },
    removePassword: async (userId) => rows.delete(userId),
    passwordChangedAt: async (userId) => rows.get(userId)?.changedAt ?? null,
    async findPasswordOwners(who) {
      const { users: all } = await users.listUsers({ page: 1, pageSize: 1_000 });
      const isEmail = ({ email }: { email: string }) => email.toLowerCase() === who.toLowerCase();
      const found = all.filter((user) => isEmail(user) || user.name === who);
      return found
        .sort((a, b) => Number(isEmail(b)) - Number(isEmail(a)))
        .slice(0, 3)
        .map(({ id, name, email, role, disabledAt }) => ({
          user: { id, name, email, role, disabledAt },
          hash: rows.get(id)?.hash ?? null,
          networks: rows.get(id)?.networks ?? [],
          hasPasskey: passkeysOf(id).length > 0,
        }));
    },
    async noteNetwork(userId, network) {
      const row = rows.get(userId);
      const networks = [network, ...(row?.networks ?? []).filter((known) => known !== network)];
      if (row) row.networks = networks.slice(0, limits.passwords.networksPerUser);
    },
  };
}
