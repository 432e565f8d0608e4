/** Answers that callers got, and what must hold after them whatever was killed. */

export interface Known {
  id: string;
  /** Digests of files whose writes were acknowledged, by path. */
  files: Map<string, string>;
  /** Lines that commands appended once each; true once the command was answered with success. */
  lines: Map<string, boolean>;
  deleteRequested: boolean;
}

export interface Ledger {
  created(id: string): void;
  /** Null for one whose delete was acknowledged. */
  find(id: string): Known | null;
  deleted(id: string): void;
  /** Those that were created, and not deleted for sure. */
  all(): Known[];
  /** Those that nobody has asked to delete. */
  usable(): Known[];
}

export function createLedger(): Ledger {
  const known = new Map<string, Known>();
  return {
    created(id) {
      if (known.has(id)) throw new Error(`two creations answered with ${id}`);
      known.set(id, { id, files: new Map(), lines: new Map(), deleteRequested: false });
    },
    find: (id) => known.get(id) ?? null,
    deleted: (id) => void known.delete(id),
    all: () => [...known.values()],
    usable: () => [...known.values()].filter(({ deleteRequested }) => !deleteRequested),
  };
}
