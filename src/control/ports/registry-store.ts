/** What is kept of registries: one pair of username and password for each. */

export interface RegistryCredential {
  /** By `registryKey`. */
  registry: string;
  username: string;
  password: string;
}

/** What may be shown of one. */
export interface RegistryAccount {
  registry: string;
  username: string;
  updatedAt: number;
}

/** Passwords are encrypted at rest. */
export interface RegistryCredentialStore {
  /** In place of the registry's earlier one. Fails with `resource_exhausted` when there are too many registries. */
  put(credential: RegistryCredential, now: number): Promise<RegistryAccount>;
  get(registry: string): Promise<RegistryCredential | null>;
  /** By name. */
  list(): Promise<RegistryAccount[]>;
  /** Whether there was one. */
  remove(registry: string): Promise<boolean>;
}
