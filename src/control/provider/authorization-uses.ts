/** Uses of authorizations that last longer than one operation: those that requests of running sandboxes carry. */

/** Hears of changes once the store has them. */
export interface AuthorizationUses {
  /** The authorization of a user is another one, or none. Does not wait, since the caller may hold a sandbox's turn. */
  changed(userId: string): void;
  /** Resolves when nothing carries what the user had. Rejects with `unavailable` where that failed, and is repeated. */
  ended(userId: string): Promise<void>;
}
