/** Text of one page of a list: a summary, its entries, and the offset of the rest. */
import { limits } from '../../model/limits.ts';

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
