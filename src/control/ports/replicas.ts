/**
 * Replicas: the processes that serve one installation together, over one store. Each has a lease in the store; when it
 * is over, the others give the replica up, for good, and finish what it has begun.
 */

/**
 * Messages from replica to replica: `yield`, the sandbox whose operation is to be broken off for a delete; `over`, the
 * id of a user, a key or a grant whose open work ends; `seen`, a step of a caller in the order of use; `wanted`, the number
 * of sandboxes that callers have wanted of the warm pool; `snapshot`, a snapshot that changed, or how far it is; `ask` and `answer`, whether the
 * news before it were heard.
 */
export type Topic = 'yield' | 'over' | 'seen' | 'wanted' | 'snapshot' | 'ask' | 'answer';

export interface Replicas {
  /** false: this process is the only one, and each other one that it finds traces of is dead. */
  readonly shared: boolean;
  /** Id of this replica, marked in the rows that it works on; a new one after it was given up. null when not shared. */
  readonly id: string | null;
  /** Number of live replicas, this one included. */
  readonly count: number;
  /** Aborted when the lease of this replica is over; a new signal when it has one again. */
  readonly lease: AbortSignal;
  /** Throws `unavailable` while this replica has no lease: others may do its work. */
  assertLeased(): void;
  /**
   * Resolves to false when the replica was given up: it changes nothing any more. A replica that may live counts as
   * alive.
   */
  lives(id: string): Promise<boolean>;
  /**
   * Divides work among the live replicas: one of them gets true. Two may for the moments in which they disagree about who
   * lives, so the work itself has to be safe in two hands.
   */
  isMine(work: string): boolean;
  /** Calls the listener when replicas have come or gone. */
  onChange(listener: () => void): void;
  /** Resolves when another replica has written the sandbox's row, or after that time. */
  changed(sandboxId: string, withinMs: number): Promise<void>;
  /** Calls the listener with the id of each sandbox whose row a replica has written, this one included. */
  onWritten(listener: (sandboxId: string) => void): void;
  /** Resolves when the other live replicas have taken in what this one has committed, or after a second without an answer. */
  heard(): Promise<void>;
  /** Sends a message to all other live replicas. Without a promise: one that has lost its connection misses it. */
  tell(topic: Topic, text: string): void;
  onTold(topic: Topic, listener: (text: string) => void): void;
  /** Calls the listener when this replica hears messages again after a time in which it may have missed some. */
  onGap(listener: () => void): void;
}
