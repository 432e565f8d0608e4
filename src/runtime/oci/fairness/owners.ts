/**
 * Owners of machines, as assigned since the service's start: owners share what machines share. The store holds the
 * truth; nothing is kept here for good.
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
