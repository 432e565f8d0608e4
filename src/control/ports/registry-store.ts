/** Store of registry credentials: one username and password for each registry. */

export interface RegistryCredential {
  /** Key from `registryKey`. */
  registry: string;
  username: string;
  password: string;
}

/** The public part of a credential. */
export interface RegistryAccount {
  registry: string;
  username: string;
  updatedAt: number;
}

/** Passwords are encrypted at rest. */
export interface RegistryCredentialStore {
  /** Replaces the registry's credential. Rejects with `resource_exhausted` when there are too many registries. */
  put(credential: RegistryCredential, now: number): Promise<RegistryAccount>;
  get(registry: string): Promise<RegistryCredential | null>;
  /** Sorted by registry. */
  list(): Promise<RegistryAccount[]>;
  /** Returns true when it existed. */
  remove(registry: string): Promise<boolean>;
}
