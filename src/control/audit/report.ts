/** Report of a verification of the whole log. */
import type { ChainEnd } from '../../model/audit.ts';
import { limits } from '../../model/limits.ts';
import type { AuditStore } from '../ports/index.ts';
import type { AuditChain } from './chain.ts';
import { type AuditFault, Verification } from './verification.ts';

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
