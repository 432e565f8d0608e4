/**
 * Retention of audit rows. Seals the new beginning of the log, so that the rest still verifies and rows removed by
 * anybody else still show.
 */
import { auditActions, serviceEvent } from '../../model/audit.ts';
import { limits } from '../../model/limits.ts';
import type { AuditStore, Clock, Log } from '../ports/index.ts';
import type { AuditChain } from './chain.ts';
import { Verification } from './verification.ts';
import type { AuditWriter } from './writer.ts';

export interface RetentionDependencies {
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
