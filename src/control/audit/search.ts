/** Search for rows, in steps: a filter that matches few rows must not block the service. */
import type { AuditFilter, AuditRow } from '../../model/audit.ts';
import { limits } from '../../model/limits.ts';
import type { AuditStore } from '../ports/index.ts';

export interface AuditQuery {
  filter: AuditFilter;
  /** Returns the first rows after this sequence; without it, the last rows of the log. */
  after?: number;
  limit: number;
}

export interface AuditPage {
  /** Oldest first. */
  rows: AuditRow[];
  /** Last sequence that was searched; the next page begins after it. */
  next: number;
  /** true: rows after `next` were not searched. */
  hasMore: boolean;
}

/** @param end The last row to search. */
export async function searchAudit(
  store: AuditStore,
  { filter, after, limit }: AuditQuery,
  end: number,
  signal?: AbortSignal,
): Promise<AuditPage> {
  const { since, until } = filter;
  const first = since === undefined ? 0 : (await store.sequenceAt(since)) - 1;
  const last = until === undefined ? end : Math.min(end, (await store.sequenceAt(until)) - 1);
  const range = { after: Math.max(after ?? 0, first), through: last };
  return after === undefined
    ? { rows: await lastRows(store, filter, range, limit, signal), next: Math.max(last, 0), hasMore: false }
    : firstRows(store, filter, range, limit, signal);
}

interface Range {
  after: number;
  through: number;
}

async function firstRows(
  store: AuditStore,
  filter: AuditFilter,
  range: Range,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<AuditPage> {
  const rows: AuditRow[] = [];
  let { after } = range;
  while (after < range.through && rows.length < limit) {
    const through = Math.min(after + limits.audit.scanRows, range.through);
    const take = { which: 'first', limit: limit - rows.length } as const;
    rows.push(...(await store.search(filter, { after, through }, take)));
    after = rows.length < limit ? through : (rows.at(-1)?.sequence ?? through);
    await yieldToLoop(signal);
  }
  return { rows, next: after, hasMore: after < range.through };
}

async function lastRows(
  store: AuditStore,
  filter: AuditFilter,
  range: Range,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<AuditRow[]> {
  let rows: AuditRow[] = [];
  let { through } = range;
  while (through > range.after && rows.length < limit) {
    const after = Math.max(through - limits.audit.scanRows, range.after);
    const take = { which: 'last', limit: limit - rows.length } as const;
    rows = [...(await store.search(filter, { after, through }, take)), ...rows];
    through = after;
    await yieldToLoop(signal);
  }
  return rows;
}

async function yieldToLoop(signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal?.throwIfAborted();
}
