/** Accounts at a registry, and what a test asks of a service that has them. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { RegistryCredential } from '../../../src/control/ports/index.ts';
import { registryKey } from '../../../src/model/registries.ts';
import type { RegistryAccess } from '../../../src/runtime/images/registry/credential-files.ts';

/** One line of an htpasswd file, by bcrypt, which is all that the registry takes. */
export function htpasswd(username: string, password: string): string {
  const script = 'my $p = <STDIN>; print crypt($p, q($2b$05$)."abcdefghijklmnopqrstuu")';
  return `${username}:${execFileSync('perl', ['-e', script], { input: password, encoding: 'utf8' })}\n`;
}

export interface Kept extends RegistryAccess {
  put(credential: RegistryCredential): void;
  remove(registry: string): void;
}

/** Credentials that a test changes while it runs. */
export function keptIn(folder: string): Kept {
  const rows = new Map<string, RegistryCredential>();
  return {
    folder: join(folder, 'registries'),
    credentials: async (registry) => rows.get(registry) ?? null,
    put: (credential) => void rows.set(registryKey(credential.registry), credential),
    remove: (registry) => void rows.delete(registryKey(registry)),
  };
}
