/**
 * Verification of the audit log: a walk along the chain that collects its faults, the report of one over the whole
 * log, and the removal of old rows, which keeps the rest verifiable.
 */
import { type AuditRow, auditActions, type ChainEnd, serviceEvent } from '../../model/audit.ts';
import { limits } from '../../model/limits.ts';
import type { AuditStore, Clock, Log } from '../ports/index.ts';
import { type AuditChain, same } from './chain.ts';
import type { AuditWriter } from './writer.ts';

/**
 * `changed`: the row differs from the one that was written, or this service never wrote it. `missing`: rows were
 * removed. `unanchored`: before this row, rows at the end may have been cut off.
 */
export type AuditFaultKind = 'changed' | 'missing' | 'unanchored';

interface AuditFault {
  kind: AuditFaultKind;
  /** The first and the last row of the fault. */
  sequence: number;
  through: number;
}

export class Verification {
  readonly #chain: AuditChain;
  #at: ChainEnd;
  /** Hash that the next row's hash covers; null behind missing rows. */
  #previous: Buffer | null;
  /** The first faults, in the order of the log. */
  readonly faults: AuditFault[] = [];
  faultCount = 0;
  rowsChecked = 0;
  /** Events known to be lost. */
  eventsLost = 0;

  constructor(chain: AuditChain, begin: ChainEnd) {
    this.#chain = chain;
    this.#at = begin;
    this.#previous = begin.hash;
  }

  get at(): ChainEnd {
    return this.#at;
  }

  take(row: AuditRow): void {
    this.#expect(row.sequence);
    this.rowsChecked++;
    const genuine = this.#previous === null || same(row.hash, this.#chain.hashOf(this.#previous, row));
    if (!genuine) this.#fault('changed', row.sequence, row.sequence);
    else if (row.action === auditActions.unanchored) this.#fault('unanchored', row.sequence, row.sequence);
    else if (row.action === auditActions.gap) this.eventsLost += row.count ?? 0;
    // Continues from the stored hash, so that one changed row is one fault.
    this.#at = { sequence: row.sequence, hash: row.hash };
    this.#previous = row.hash;
  }

  /** Ends the walk; the log must reach `end`. */
  finish(end: ChainEnd): void {
    this.#expect(end.sequence + 1);
  }

  #expect(sequence: number): void {
    const next = this.#at.sequence + 1;
    if (sequence <= next) return;
    this.#fault('missing', next, sequence - 1);
    this.#previous = null;
  }

  #fault(kind: AuditFaultKind, sequence: number, through: number): void {
    this.faultCount++;
    if (this.faults.length < limits.audit.faults) this.faults.push({ kind, sequence, through });
  }
}

/** Report of a verification of the whole log. */
export interface AuditReport {
  /** true: verification found no fault. */
  intact: boolean;
  rowsChecked: number;
  /** Sequence of the last row removed because of its age; the log begins after it. */
  beginsAfter: number;
  /** Worth keeping elsewhere: it alone reveals that the whole log was put back to an earlier state. */
  end: ChainEnd;
  /** Events known to be lost, for want of disk space for example. */
  eventsLost: number;
  faultCount: number;
  /** The first faults, up to a limit. */
  faults: AuditFault[];
}

/** @param end The row that the log must reach; later rows are not verified. */
export async function verifyAudit(
  store: AuditStore,
  chain: AuditChain,
  end: ChainEnd,
  signal?: AbortSignal,
): Promise<AuditReport> {
  const begin = chain.unseal('anchor', await store.anchor()) ?? chain.origin;
  const walk = new Verification(chain, begin);
  while (walk.at.sequence < end.sequence) {
    const rows = await store.read(walk.at.sequence, limits.audit.stepRows);
    const known = rows.filter(({ sequence }) => sequence <= end.sequence);
    if (known.length === 0) break;
    for (const row of known) walk.take(row);
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
  }
  walk.finish(end);
  const { rowsChecked, eventsLost, faultCount, faults } = walk;
  return {
    ...{ intact: faultCount === 0, rowsChecked, eventsLost, faultCount, faults },
    ...{ beginsAfter: begin.sequence, end },
  };
}

/**
 * Retention of audit rows. Seals the new beginning of the log, so that the rest still verifies and rows removed by
 * anybody else still show.
 */
interface RetentionDependencies {
  store: AuditStore;
  chain: AuditChain;
  writer: AuditWriter;
  clock: Clock;
  log: Log;
}

/**
 * Removes rows older than `keptMs`. Keeps a changed row and all rows after it: a row with a changed time would
 * otherwise remove itself.
 */
export async function pruneAudit(d: RetentionDependencies, keptMs: number): Promise<void> {
  const { store, chain, writer, clock, log } = d;
  const last = (await store.sequenceAt(clock.now() - keptMs)) - 1;
  let removed = 0;
  const begin = chain.unseal('anchor', await store.anchor()) ?? chain.origin;
  const walk = new Verification(chain, begin);
  while (walk.at.sequence < last) {
    const rows = await store.read(walk.at.sequence, limits.audit.stepRows);
    const old = rows.filter(({ sequence }) => sequence <= last);
    if (old.length === 0) break;
    for (const row of old) walk.take(row);
    if (walk.faults.some(({ kind }) => kind === 'changed')) {
      log.error('the audit log was changed, so its old rows are kept', {
        sequence: walk.faults[0]?.sequence,
      });
      break;
    }
    await store.prune(chain.seal('anchor', walk.at));
    removed += old.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (removed > 0) writer.add(serviceEvent(auditActions.prune, removed));
}
