/**
 * Credentials for skopeo. They go through a file under `/run` that only root can read, and that is there for one run of
 * it: arguments and environment of a process show in more places, and the data directory outlives the service.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RegistryCredential } from '../../../control/ports/index.ts';
import { randomText } from '../../../model/ids.ts';
import { DEFAULT_REGISTRY, registryKey } from '../../../model/registry-name.ts';

export interface RegistryAccess {
  /** Returns the credential stored for this registry, by `registryKey`; null without one. */
  credentials(registry: string): Promise<RegistryCredential | null>;
  /** A folder for this alone, which a restart of the machine empties. */
  folder: string;
}

export class CredentialFiles {
  readonly #access: RegistryAccess | null;

  /** @param access null: every registry is asked without credentials. */
  constructor(access: RegistryAccess | null) {
    this.#access = access;
  }

  /** Removes what a service that was killed left. */
  async init(): Promise<void> {
    if (!this.#access) return;
    await rm(this.#access.folder, { recursive: true, force: true });
    await mkdir(this.#access.folder, { recursive: true, mode: 0o700 });
  }

  /** @param work Is given the file, or null where there are no credentials for this registry. */
  async use<T>(registry: string, work: (file: string | null) => Promise<T>): Promise<T> {
    const credential = await this.#access?.credentials(registryKey(registry));
    if (!this.#access || !credential) return work(null);
    const file = join(this.#access.folder, `${randomText(12)}.json`);
    try {
      await writeFile(file, contentFor(registry, credential), { mode: 0o600, flag: 'wx' });
      return await work(file);
    } finally {
      await rm(file, { force: true });
    }
  }
}

/** Of one registry alone, so that no other is sent them, whatever it answers. */
function contentFor(registry: string, { username, password }: RegistryCredential): string {
  // In the spelling of the image's name, by which skopeo looks it up.
  const key = registryKey(registry) === DEFAULT_REGISTRY ? DEFAULT_REGISTRY : registry;
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  return JSON.stringify({ auths: { [key]: { auth } } });
}
