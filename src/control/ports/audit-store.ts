/** Store of the audit log: its rows, the seal of its beginning, and outside of the database the seal of its end. */
import type { AuditFilter, AuditRow, ChainEnd } from '../../model/audit.ts';

/** A place in the chain with a seal that only the service can make. */
export interface SealedEnd extends ChainEnd {
  seal: Buffer;
}

/** Rows are read in the order of their sequence, wherever they were inserted. */
export interface AuditStore {
  /** Inserts all rows or none. Rejects with `already_exists` when a row of one of these sequences exists. */
  append(rows: readonly AuditRow[]): Promise<void>;
  last(): Promise<ChainEnd | null>;
  /** Returns the first rows after a sequence. */
  read(after: number, limit: number): Promise<AuditRow[]>;
  /** Returns matching rows, after one sequence and through another: the first or the last of them, oldest first. */
  search(
    filter: AuditFilter,
    range: { after: number; through: number },
    take: { which: 'first' | 'last'; limit: number },
  ): Promise<AuditRow[]>;
  /**
   * Returns the sequence of the first row of this time or later; one past the last when there is none. As exact as the
   * host's clock, which is expected to go forward.
   */
  sequenceAt(time: number): Promise<number>;
  /** Returns the row after which the kept rows begin; null when the first is still there. */
  anchor(): Promise<SealedEnd | null>;
  /** Removes the rows through the anchor, and stores the anchor, in one transaction. */
  prune(anchor: SealedEnd): Promise<void>;
}

/** The end of the chain, kept outside of the database. */
export interface AuditCheckpoint {
  /** Returns null for a missing or malformed checkpoint. */
  read(): Promise<SealedEnd | null>;
  /** Durable once it resolves. */
  write(end: SealedEnd): Promise<void>;
}
