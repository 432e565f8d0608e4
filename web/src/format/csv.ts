/** Reads CSV as RFC 4180 describes it, and tolerates what programs write: any line end, quotes left open. */

export interface Csv {
  rows: string[][];
  /** True when there are more rows than were requested. */
  cut: boolean;
}

export function parseCsv(text: string, mostRows: number): Csv {
  const separator = separatorOf(text);
  const rows: string[][] = [];
  let row: string[] = [];
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < text.length) {
    const cell = text[at] === '"' ? quoted(text, at) : plain(text, at, separator);
    row.push(cell.value);
    at = cell.end;
    if (text[at] === separator) {
      at++;
      // A separator at the very end has an empty cell behind it.
      if (at < text.length) continue;
      row.push('');
    }
    if (text[at] === '\r' && text[at + 1] === '\n') at++;
    at++;
    rows.push(row);
    row = [];
    if (rows.length === mostRows) return { rows, cut: at < text.length };
  }
  return { rows, cut: false };
}

/** Makes CSV; a value that a spreadsheet would run as a formula gets an apostrophe before it. */
export function writeCsv(rows: readonly (readonly (string | number | null)[])[]): string {
  return rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The most frequent one of the first line. */
function separatorOf(text: string): string {
  const line = text.slice(0, Math.max(text.search(/[\r\n]/), 0) || undefined).slice(0, 10_000);
  const count = (sign: string) => line.split(sign).length;
  return [',', ';', '\t'].reduce((best, sign) => (count(sign) > count(best) ? sign : best));
}

interface Cell {
  value: string;
  end: number;
}

function plain(text: string, begin: number, separator: string): Cell {
  let end = begin;
  while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end++;
  return { value: text.slice(begin, end), end };
}

function quoted(text: string, begin: number): Cell {
  const parts: string[] = [];
  let at = begin + 1;
  while (at < text.length) {
    const quote = text.indexOf('"', at);
    const end = quote === -1 ? text.length : quote;
    parts.push(text.slice(at, end));
    at = end + 1;
    if (text[at] !== '"') break;
    parts.push('"');
    at++;
  }
  return { value: parts.join(''), end: Math.min(at, text.length) };
}
