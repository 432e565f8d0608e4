/** Turns typed text into the parameters of a query, and documents into a table. */

/** @returns the parts of a JSON array, each as it is written, or null for anything but an array. */
export function splitArray(text: string): string[] | null {
  const trimmed = text.trim();
  if (!trimmed.startsWith('[') || !trimmed.endsWith(']')) return null;
  const parts: string[] = [];
  let depth = 0;
  let begin = 1;
  for (let at = 1; at < trimmed.length - 1; at++) {
    const sign = trimmed[at] ?? '';
    if (sign === '"') at = endOfString(trimmed, at);
    else if ('[{('.includes(sign)) depth++;
    else if (']})'.includes(sign)) depth--;
    else if (sign === ',' && depth === 0) {
      parts.push(trimmed.slice(begin, at).trim());
      begin = at + 1;
    }
    if (depth < 0) return null;
  }
  parts.push(trimmed.slice(begin, -1).trim());
  const whole = parts.filter((part, index) => part !== '' || index < parts.length - 1);
  return depth === 0 && whole.every((part) => part !== '') ? whole : null;
}

/** Writes `{"age": -1}` as FindDocuments takes it. @returns null for anything but such an object. */
export function sortOf(text: string): string[] | null {
  if (text.trim() === '') return [];
  try {
    const fields: unknown = JSON.parse(text);
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return null;
    const entries = Object.entries(fields);
    if (!entries.every(([, direction]) => direction === 1 || direction === -1)) return null;
    return entries.map(([field, direction]) => JSON.stringify({ field, direction }));
  } catch {
    return null;
  }
}

export interface Grid {
  columns: string[];
  rows: string[][];
}

const MOST_COLUMNS = 60;

/** @param documents Each is relaxed Extended JSON. */
export function gridOf(documents: readonly string[]): Grid {
  const parsed = documents.map((text) => JSON.parse(text) as Record<string, unknown>);
  const columns = [...new Set(parsed.flatMap((one) => Object.keys(one)))].slice(0, MOST_COLUMNS);
  const rows = parsed.map((one) =>
    columns.map((column) => (Object.hasOwn(one, column) ? cellOf(one[column]) : '')),
  );
  return { columns, rows };
}

function cellOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value);
    const plain = (value as Record<string, unknown>)[keys[0] ?? ''];
    // Values such as {"$oid": "…"} and {"$date": "…"} are one text.
    if (
      keys.length === 1 &&
      /^\$(?:oid|date|numberLong|numberDecimal|uuid)$/.test(keys[0] ?? '') &&
      typeof plain === 'string'
    )
      return plain;
  }
  return JSON.stringify(value) ?? '';
}

function endOfString(text: string, begin: number): number {
  for (let at = begin + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
