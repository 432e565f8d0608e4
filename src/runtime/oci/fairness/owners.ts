/**
 * Whose a machine is, as far as the service has said since its start: what machines share is divided by owner. The store
 * is what knows; nothing of it is kept here for good.
 */
export interface Owners {
  /** null: nobody's, as in the warm pool. */
  assign(id: string, ownerId: string | null): void;
  /** One that nobody was named for stands for itself. */
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
