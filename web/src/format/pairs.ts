/** Reads labels and environment variables as people write them: one `key=value` a line. */

export interface Pairs {
  pairs: Record<string, string>;
  /** null, or the fault with its line. */
  fault: string | null;
}

export function readPairs(text: string): Pairs {
  const pairs: Record<string, string> = Object.create(null);
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const sign = line.indexOf('=');
    const key = (sign === -1 ? line : line.slice(0, sign)).trim();
    if (sign === -1 || key === '') return { pairs: {}, fault: `Line ${index + 1} is not key=value.` };
    if (key in pairs) return { pairs: {}, fault: `Line ${index + 1} repeats the key ${key}.` };
    pairs[key] = line.slice(sign + 1).trim();
  }
  return { pairs: { ...pairs }, fault: null };
}

export function writePairs(pairs: Record<string, string>): string {
  return Object.entries(pairs)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n');
}
