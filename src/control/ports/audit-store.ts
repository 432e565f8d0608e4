/** What is kept of the audit log: its rows, where they begin, and beside the database where they end. */
import type { AuditFilter, AuditRow, ChainEnd } from '../../model/audit.ts';

/** A place in the chain with the seal that only the service can make. */
export interface SealedEnd extends ChainEnd {
  seal: Buffer;
}

/** Rows come in the order of their sequence, wherever they were put. */
export interface AuditStore {
  /** All or none. `already_exists` when there is a row of one of these sequences. */
  append(rows: readonly AuditRow[]): Promise<void>;
  last(): Promise<ChainEnd | null>;
  /** The first rows after a sequence. */
  read(after: number, limit: number): Promise<AuditRow[]>;
  /** Rows that match, after one sequence and through another: the first of them, or the last, oldest first. */
  search(
    filter: AuditFilter,
    range: { after: number; through: number },
    take: { which: 'first' | 'last'; limit: number },
  ): Promise<AuditRow[]>;
  /**
   * The sequence of the first row of this time or later; one past the last when there is none. As exact as the host's
   * clock, which is expected to go forward.
   */
  sequenceAt(time: number): Promise<number>;
  /** After which row the rows that are kept begin; null from the first on. */
  anchor(): Promise<SealedEnd | null>;
  /** Removes the rows through the anchor, and keeps it, in one transaction. */
  prune(anchor: SealedEnd): Promise<void>;
}

/** The end of the chain, kept outside of the database. */
export interface AuditCheckpoint {
  /** null when there is none, or what is there is none. */
  read(): Promise<SealedEnd | null>;
  /** Durable when it resolves. */
  write(end: SealedEnd): Promise<void>;
}
