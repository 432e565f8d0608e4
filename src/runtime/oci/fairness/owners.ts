/**
 * Owners of machines, as assigned since the service's start; shared resources are divided by owner. The store holds the
 * lasting record; this one is in memory only.
 */
export interface Owners {
  /** @param ownerId null for a machine without an owner, as in the warm pool. */
  assign(id: string, ownerId: string | null): void;
  /** Returns the owner; a machine without one is its own. */
  of(id: string): string;
  forget(id: string): void;
}

export function createOwners(): Owners {
  const owners = new Map<string, string>();
  return {
    assign(id, ownerId) {
      if (ownerId === null) owners.delete(id);
      else owners.set(id, ownerId);
    },
    of: (id) => owners.get(id) ?? id,
    forget: (id) => void owners.delete(id),
  };
}
