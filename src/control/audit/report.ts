/** What a verification of the whole log finds. */
import type { ChainEnd } from '../../model/audit.ts';
import { limits } from '../../model/limits.ts';
import type { AuditStore } from '../ports/index.ts';
import type { AuditChain } from './chain.ts';
import { type AuditFault, Verification } from './verification.ts';

export interface AuditReport {
  /** Nothing is wrong with it. */
  intact: boolean;
  rowsChecked: number;
  /** The rows that are there begin after this one; those before were removed because of their age. */
  beginsAfter: number;
  /** Worth keeping elsewhere: a log that was put back as a whole is told by it alone. */
  end: ChainEnd;
  /** Events that are known not to have been written, for want of space say. */
  eventsLost: number;
  faultCount: number;
  /** The first of them. */
  faults: AuditFault[];
}

/** @param end Where the log must reach to; what came after is not looked at. */
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
