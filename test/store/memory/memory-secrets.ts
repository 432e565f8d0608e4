/** The port of owners' secrets in the plainest way there is. */
import type { SecretPatch, SecretStore } from '../../../src/control/ports/index.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import type { Secret } from '../../../src/model/secrets/secret.ts';

export function memorySecrets(sandboxes: Map<string, Sandbox> = new Map()): SecretStore {
  const rows = new Map<string, { secret: Secret; value: string | null }>();
  const of = (ownerId: string) =>
    [...rows.values()]
      .filter(({ secret }) => secret.ownerId === ownerId)
      .sort((a, b) => (a.secret.name < b.secret.name ? -1 : 1));
  const change = (id: string, patch: SecretPatch & Partial<Secret>, value?: string) => {
    const row = rows.get(id);
    if (!row) return null;
    const changed = { secret: { ...row.secret, ...patch }, value: value ?? row.value };
    rows.set(id, changed);
    return structuredClone(changed.secret);
  };
  return {
    insert: async (given, value) => {
      const own = of(given.ownerId);
      if (own.length >= limits.secrets.perOwner) throw new SandhavenError('resource_exhausted', 'full');
      if (own.some(({ secret }) => secret.name === given.name))
        throw new SandhavenError('already_exists', 'taken', { parameter: 'name' });
      const times = { updatedAt: given.createdAt, rotatedAt: given.createdAt, lastUsedAt: null };
      const secret = { ...given, ...times };
      rows.set(given.id, { secret, value });
      return structuredClone(secret);
    },
    list: async (ownerId) => structuredClone(of(ownerId).map(({ secret }) => secret)),
    find: async (ownerId, wanted) => {
      const found = of(ownerId).find(({ secret }) => secret.id === wanted || secret.name === wanted);
      return structuredClone(found?.secret ?? null);
    },
    some: async (ownerId, ids) =>
      structuredClone(of(ownerId).flatMap(({ secret }) => (ids.includes(secret.id) ? [secret] : []))),
    opened: async (ownerId, ids) =>
      structuredClone(of(ownerId).filter(({ secret }) => ids.includes(secret.id))),
    update: async (id, patch, now) => change(id, { ...patch, updatedAt: now }),
    rotate: async (id, value, patch, now) => change(id, { ...patch, updatedAt: now, rotatedAt: now }, value),
    remove: async (id) => rows.delete(id),
    noteUses: async (uses) => {
      for (const [id, at] of uses) {
        const known = rows.get(id)?.secret.lastUsedAt ?? 0;
        change(id, { lastUsedAt: Math.max(known, at) });
      }
    },
    holders: async (ownerId, id) =>
      [...sandboxes.values()]
        .filter(
          (row) => row.ownerId === ownerId && row.secretIds.includes(id) && row.operation !== 'creating',
        )
        .map((row) => row.id),
    providerOwners: async (provider) => {
      const kept = [...rows.values()].filter(({ secret }) => secret.provider === provider);
      const owners = [...sandboxes.values()]
        .filter(({ state }) => state === 'started')
        .flatMap(({ ownerId, secretIds }) =>
          kept.flatMap(({ secret }) =>
            secret.ownerId === ownerId && secretIds.includes(secret.id) ? [secret.ownerId] : [],
          ),
        );
      return [...new Set(owners)].sort();
    },
  };
}
