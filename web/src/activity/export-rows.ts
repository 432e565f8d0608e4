/** Saves rows of the audit log to a file, page by page. */
import { writeCsv } from '../format/csv.ts';
import { counted } from '../format/quantity.ts';
import { notifyDone } from '../parts/notify.tsx';
import { saveFile } from '../parts/save-file.ts';
import { administration } from '../service/administration.ts';
import type { AuditRow } from '../service/records.ts';
import { type ActivityFilter, auditParametersOf } from './filter.ts';

const PAGE_ROWS = 1_000;
/** A browser holds the file in memory; larger logs are for `sandhaven audit --export`. */
const MOST_ROWS = 100_000;

const columns = [
  'sequence',
  'time',
  'action',
  'outcome',
  'duration_ms',
  'user_id',
  'key_id',
  'team_id',
  'made_by',
  'sandbox_id',
  'transport',
  'client_address',
  'request_id',
  'count',
  'hash',
] as const;

export async function exportRows(format: 'csv' | 'jsonl', filter: ActivityFilter): Promise<void> {
  const parameters = auditParametersOf(filter, PAGE_ROWS);
  const parts: string[] = format === 'csv' ? [writeCsv([columns])] : [];
  let rows = 0;
  let after = 0;
  while (rows < MOST_ROWS) {
    const page = await administration.listAudit({ ...parameters, after });
    parts.push(
      format === 'csv' ? csvOf(page.rows) : page.rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    );
    rows += page.rows.length;
    after = page.next_after;
    if (!page.has_more) break;
  }
  const day = new Date().toISOString().slice(0, 10);
  saveFile(
    `sandhaven-audit-${day}.${format}`,
    new Blob(parts, { type: format === 'csv' ? 'text/csv' : 'application/jsonl' }),
  );
  notifyDone(
    `${counted(rows, 'row')} exported${rows >= MOST_ROWS ? '; more rows match: use `sandhaven audit --export`' : ''}`,
  );
}

function csvOf(rows: readonly AuditRow[]): string {
  return writeCsv(rows.map((row) => columns.map((column) => row[column])));
}
