/**
 * The list of all the caller's sandboxes: the first page is shown at once, the others follow side by side. Filters then
 * need no request, and the answer of an action replaces its row.
 */
import type { Sandbox } from '@sandhaven/sdk';
import type { QueryClient } from '@tanstack/react-query';
import { client } from './client.ts';

export interface SandboxList {
  rows: Sandbox[];
  total: number;
}

export const sandboxesKey = ['sandboxes'] as const;

const PAGE_SIZE = 100;
const MOST_PAGES = 200;
const AT_ONCE = 4;
const LONGEST_PAINT_MS = 300;

export async function walkSandboxes(queries: QueryClient, signal: AbortSignal): Promise<SandboxList> {
  const fetchPage = (page: number) => client.listSandboxes({ page, page_size: PAGE_SIZE }, { signal });
  const first = await fetchPage(1);
  const pages = new Map([[1, first.sandboxes]]);
  const list = () => ({ rows: distinct(pages), total: first.total_count });
  const last = Math.min(first.total_pages, MOST_PAGES);
  if (last === 1) return list();
  const isFirstVisit = queries.getQueryData(sandboxesKey) === undefined;
  if (isFirstVisit) {
    queries.setQueryData(sandboxesKey, list());
    await painted();
  }
  let next = 2;
  const walk = async () => {
    while (next <= last) {
      const page = next++;
      pages.set(page, (await fetchPage(page)).sandboxes);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, walk));
  return list();
}

/**
 * Resolves when the first page can be seen: the others would compete with it. It is drawn in the first frame or the second one
 * from here; a tab that is hidden has none.
 */
function painted(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, LONGEST_PAINT_MS);
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)));
  });
}

/** A sandbox made meanwhile moves others to the next page, where they come again. */
function distinct(pages: Map<number, Sandbox[]>): Sandbox[] {
  const rows = new Map<string, Sandbox>();
  for (const page of [...pages.keys()].toSorted((a, b) => a - b)) {
    for (const row of pages.get(page) ?? []) if (!rows.has(row.id)) rows.set(row.id, row);
  }
  return [...rows.values()];
}

/** Changes one row, in the list and in the sandbox's own answer. */
export function changeSandbox(queries: QueryClient, id: string, change: Partial<Sandbox>): void {
  queries.setQueryData<SandboxList>(sandboxesKey, (list) =>
    list ? { ...list, rows: list.rows.map((row) => (row.id === id ? merged(row, change) : row)) } : list,
  );
  queries.setQueryData<Sandbox>(['sandbox', id], (row) => (row ? merged(row, change) : row));
}

export function removeSandbox(queries: QueryClient, id: string): void {
  queries.setQueryData<SandboxList>(sandboxesKey, (list) => {
    if (!list) return list;
    const rows = list.rows.filter((row) => row.id !== id);
    return { rows, total: list.total - (list.rows.length - rows.length) };
  });
  queries.removeQueries({ queryKey: ['sandbox', id] });
  queries.removeQueries({ queryKey: ['inside', id] });
}

/** Puts a new or a changed sandbox in the place of its row, or first of all. */
export function putSandbox(queries: QueryClient, changed: Sandbox): void {
  queries.setQueryData<SandboxList>(sandboxesKey, (list) => {
    if (!list?.rows.some(({ id }) => id === changed.id))
      return list && { rows: [changed, ...list.rows], total: list.total + 1 };
    return { ...list, rows: list.rows.map((row) => (row.id === changed.id ? changed : row)) };
  });
}

/** An answer without an operation, or a whole one without a deadline or of one that is awake, has none any more. */
function merged<Row extends Sandbox>(row: Row, change: Partial<Sandbox>): Row {
  const kept: Partial<Row> = { ...row };
  if ('state' in change || 'operation' in change) delete kept.operation;
  if ('id' in change) {
    delete kept.deadline_at;
    delete kept.asleep_since;
  }
  return { ...kept, ...change } as Row;
}
