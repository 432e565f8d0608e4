/** The two ways to page, by number for records and by offset for entries of a file system, and the text of a page. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { integerWithDefault } from './scalars.ts';

/** Repeats the caller's input, so it is left out of MCP's list. */
const echoed = { unlisted: true };

export const pageParameters = {
  page: integerWithDefault('Page number', { min: 1, max: limits.listPosition, default: 1 }),
  page_size: integerWithDefault('Records a page', limits.pageSize),
};

export const pageOutput = {
  total_count: z.int(),
  page: z.int().meta(echoed),
  page_size: z.int().meta(echoed),
  total_pages: z.int(),
};

export const offsetParameters = {
  max_items: integerWithDefault('Most to return', limits.maxItems),
  offset: integerWithDefault('How many to skip', { min: 0, max: limits.listPosition, default: 0 }),
};

export const offsetOutput = {
  total_count: z.int(),
  has_more: z.boolean(),
  offset: z.int().meta(echoed),
};

export function pageOf(totalCount: number, query: { page: number; page_size: number }) {
  return {
    total_count: totalCount,
    page: query.page,
    page_size: query.page_size,
    total_pages: Math.ceil(totalCount / query.page_size),
  };
}

/** Returns `41 sandboxes, page 2 of 3; next: page 3.` @param things Singular and plural. */
export function pageText(
  { total_count, page, total_pages }: { total_count: number; page: number; total_pages: number },
  [one, several]: [string, string],
): string {
  const counted = `${total_count} ${total_count === 1 ? one : several}`;
  if (total_count === 0) return `${counted}.`;
  if (page > total_pages) return `${counted}; page ${page} is past the last, ${total_pages}.`;
  return `${counted}, page ${page} of ${total_pages}${page < total_pages ? `; next: page ${page + 1}` : ''}.`;
}

export function offsetOf(totalCount: number, returned: number, offset: number) {
  return { total_count: totalCount, has_more: offset + returned < totalCount, offset };
}

/** Room for the summary and for the note about a cut. */
const RESERVE_CHARS = 512;

export interface PageOf {
  total_count: number;
  has_more: boolean;
  offset: number;
}

/** Returns `3 files`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * Returns a summary, the entries of a page, and the offset of the rest.
 * @param what Summary of all pages: `12 files match`.
 * @param entries Entries of this page. Those without room are left out, and their offset is named.
 */
export function offsetText(what: string, page: PageOf, entries: string[]): string {
  const end = page.offset + entries.length;
  const part = end - page.offset < page.total_count ? `; ${rangeOf(page, end)}` : '';
  const more = page.has_more ? `; offset ${end} has more` : '';
  const head = `${what}${part}${more}.`;
  let room = limits.mcpTextChars - RESERVE_CHARS - head.length;
  const shown = entries.findIndex((entry) => {
    room -= entry.length + 1;
    return room < 0;
  });
  if (shown < 0) return [head, ...entries].join('\n');
  // A single entry that is too long is shortened like any other text.
  const kept = Math.max(shown, 1);
  const cut = `… the text ends here; for the other ${entries.length - kept}: offset ${page.offset + kept}.`;
  return [head, ...entries.slice(0, kept), ...(kept < entries.length ? [cut] : [])].join('\n');
}

function rangeOf({ offset }: PageOf, end: number): string {
  return end === offset ? `none from offset ${offset}` : `here ${offset + 1}-${end}`;
}
