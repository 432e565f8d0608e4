/** Puts new rows of the audit log below those that were listed, where the filter lets them through. */
import type { AuditPage, AuditRow } from '../service/records.ts';
import type { ActivityFilter } from './filter.ts';

/**
 * @param sandboxIds Ids by name, for a filter that names a sandbox.
 * @returns the page with the new rows, oldest first, of which the last `most` stay.
 */
export function withRows(
  page: AuditPage,
  rows: AuditRow[],
  filter: ActivityFilter,
  { sandboxIds, most }: { sandboxIds: ReadonlyMap<string, string>; most: number },
): AuditPage {
  const known = page.rows.at(-1)?.sequence ?? page.next_after;
  const added = rows.filter((row) => row.sequence > known && matches(row, filter, sandboxIds));
  return added.length === 0 ? page : { ...page, rows: [...page.rows, ...added].slice(-most) };
}

function matches(
  row: AuditRow,
  { user, action, sandbox, outcome }: ActivityFilter,
  sandboxIds: ReadonlyMap<string, string>,
): boolean {
  const name = sandbox?.trim();
  return (
    (user === undefined || row.user_id === user) &&
    (action === undefined || row.action === action.trim()) &&
    (outcome === undefined || row.outcome === outcome) &&
    (name === undefined || row.sandbox_id === name || row.sandbox_id === (sandboxIds.get(name) ?? ''))
  );
}
