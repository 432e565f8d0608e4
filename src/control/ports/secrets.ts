/** Stores of secrets: those that owners keep for their sandboxes, and those of the service itself. */
import type { Secret } from '../../model/secrets/secret.ts';

export type NewSecret = Omit<Secret, 'updatedAt' | 'rotatedAt' | 'lastUsedAt'>;
export type SecretPatch = Partial<Pick<Secret, 'variable' | 'targets' | 'expiresAt'>>;

/** Values are encrypted at rest, and leave the store by `opened` alone. Secrets go with their owner. */
export interface SecretStore {
  /**
   * Rejects with `already_exists` for a name that the owner has, with `resource_exhausted` when the owner has too many.
   * @param value null for a provider's.
   */
  insert(secret: NewSecret, value: string | null): Promise<Secret>;
  /** Sorted by name. */
  list(ownerId: string): Promise<Secret[]>;
  /** Finds by id or by name. */
  find(ownerId: string, idOrName: string): Promise<Secret | null>;
  /** Returns those of these ids that the owner has, sorted by name. */
  some(ownerId: string, ids: readonly string[]): Promise<Secret[]>;
  /** Like `some`, with their values; null for a provider's. */
  opened(ownerId: string, ids: readonly string[]): Promise<{ secret: Secret; value: string | null }[]>;
  /** null when it is gone. */
  update(id: string, patch: SecretPatch, now: number): Promise<Secret | null>;
  /** Like `update`, with another value. */
  rotate(id: string, value: string, patch: SecretPatch, now: number): Promise<Secret | null>;
  /** Returns true when it existed. */
  remove(id: string): Promise<boolean>;
  /** Notes the times of last uses, by id; one that is known to be later stays. */
  noteUses(uses: ReadonlyMap<string, number>): Promise<void>;
  /** Returns the ids of the owner's sandboxes that use it, in any state but in the making. */
  holders(ownerId: string, id: string): Promise<string[]>;
  /** Returns the owners of started sandboxes that use a secret of this provider. */
  providerOwners(provider: string): Promise<string[]>;
}

/** Encrypted at rest too. Such as the SSH host key: all replicas that share the store have the same. */
export interface ServiceSecretStore {
  /**
   * Returns the secret of this name, or stores and returns that of `make`. Of several callers at once, in any process,
   * one stores, and all get the same.
   */
  getOrCreate(name: string, make: () => string): Promise<string>;
}
