/** The audit log in the plainest way there is. */
import type { AuditCheckpoint, SealedEnd, Store } from '../../../src/control/ports/index.ts';
import type { AuditFilter, AuditRow } from '../../../src/model/audit.ts';
import { SandhavenError } from '../../../src/model/errors.ts';

export function memoryAudit(): Pick<Store, 'audit'> {
  let rows: AuditRow[] = [];
  let anchor: SealedEnd | null = null;
  const copies = (some: AuditRow[]) => some.map((row) => ({ ...row, hash: Buffer.from(row.hash) }));
  return {
    audit: {
      append: async (added) => {
        if (added.some(({ sequence }) => rows.some((row) => row.sequence === sequence))) {
          throw new SandhavenError('already_exists', 'taken');
        }
        rows = [...rows, ...copies([...added])].sort((a, b) => a.sequence - b.sequence);
      },
      last: async () => {
        const last = rows.at(-1);
        return last ? { sequence: last.sequence, hash: Buffer.from(last.hash) } : null;
      },
      read: async (after, limit) => copies(rows.filter(({ sequence }) => sequence > after).slice(0, limit)),
      search: async (filter, { after, through }, { which, limit }) => {
        const within = rows.filter(({ sequence }) => sequence > after && sequence <= through);
        const found = within.filter((row) => matches(row, filter));
        return copies(which === 'first' ? found.slice(0, limit) : found.slice(-limit));
      },
      sequenceAt: async (time) =>
        rows.find((row) => row.time >= time)?.sequence ?? (rows.at(-1)?.sequence ?? 0) + 1,
      anchor: async () => anchor,
      prune: async (end) => {
        anchor = end;
        rows = rows.filter(({ sequence }) => sequence > end.sequence);
      },
    },
  };
}

export function memoryCheckpoint(): AuditCheckpoint {
  let kept: SealedEnd | null = null;
  return {
    read: async () => kept,
    write: async (end) => {
      kept = end;
    },
  };
}

function matches(row: AuditRow, { since, until, exceptAction, userId, ...exact }: AuditFilter): boolean {
  if (userId !== undefined && row.userId !== userId && row.teamId !== userId) return false;
  if (since !== undefined && row.time < since) return false;
  if (until !== undefined && row.time >= until) return false;
  if (exceptAction !== undefined && row.action === exceptAction) return false;
  return Object.entries(exact).every(([name, value]) => row[name as keyof typeof exact] === value);
}
