/** The port of the service's secrets in the plainest way there is. */
import type { ServiceSecretStore } from '../../../src/control/ports/index.ts';

export function memoryServiceSecrets(): ServiceSecretStore {
  const secrets = new Map<string, string>();
  return {
    getOrCreate: async (name, make) => {
      const secret = secrets.get(name) ?? make();
      secrets.set(name, secret);
      return secret;
    },
  };
}
