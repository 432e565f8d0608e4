/** Secrets of the service itself, such as its SSH host key: all replicas that share the store have the same. */

/** Secrets are encrypted at rest. */
export interface ServiceSecretStore {
  /**
   * Returns the secret of this name, or stores and returns that of `make`. Of several callers at once, in any process,
   * one stores, and all get the same.
   */
  getOrCreate(name: string, make: () => string): Promise<string>;
}
