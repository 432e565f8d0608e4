/** The port of registries' credentials in the plainest way there is. */
import type {
  RegistryAccount,
  RegistryCredential,
  RegistryCredentialStore,
} from '../../../src/control/ports/index.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';

export function memoryRegistryCredentials(): RegistryCredentialStore {
  const rows = new Map<string, RegistryCredential & RegistryAccount>();
  return {
    put: async (credential, now) => {
      const { registry, username } = credential;
      if (!rows.has(registry) && rows.size >= limits.registries.credentials) {
        throw new SandhavenError('resource_exhausted', 'full');
      }
      rows.set(registry, { ...credential, updatedAt: now });
      return { registry, username, updatedAt: now };
    },
    get: async (registry) => {
      const row = rows.get(registry);
      return row ? { registry, username: row.username, password: row.password } : null;
    },
    list: async () =>
      [...rows.values()]
        .map(({ registry, username, updatedAt }) => ({ registry, username, updatedAt }))
        .sort((a, b) => (a.registry < b.registry ? -1 : 1)),
    remove: async (registry) => rows.delete(registry),
  };
}
