/**
 * Credentials for skopeo, passed in a file under `/run` that only root can read and that exists for one run:
 * arguments and environment of a process show in more places, and the data directory outlives the service.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RegistryCredential } from '../../../control/ports/index.ts';
import { randomText } from '../../../model/ids.ts';
import { DEFAULT_REGISTRY, registryKey } from '../../../model/registries.ts';

export interface RegistryAccess {
  /** Returns the stored credential of this registry, by `registryKey`; null for none. */
  credentials(registry: string): Promise<RegistryCredential | null>;
  /** Folder for these files alone, emptied by a reboot of the host. */
  folder: string;
}

export class CredentialFiles {
  readonly #access: RegistryAccess | null;

  /** @param access null for requests without credentials to every registry. */
  constructor(access: RegistryAccess | null) {
    this.#access = access;
  }

  /** Removes the files of a killed service. */
  async init(): Promise<void> {
    if (!this.#access) return;
    await rm(this.#access.folder, { recursive: true, force: true });
    await mkdir(this.#access.folder, { recursive: true, mode: 0o700 });
  }

  /** @param work Receives the file, or null when this registry has no credentials. */
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

/** Names one registry alone, so that no other ever receives the credentials. */
function contentFor(registry: string, { username, password }: RegistryCredential): string {
  // Spelled as in the image's name, by which skopeo looks it up.
  const key = registryKey(registry) === DEFAULT_REGISTRY ? DEFAULT_REGISTRY : registry;
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  return JSON.stringify({ auths: { [key]: { auth } } });
}
