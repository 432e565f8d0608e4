/** Parses JSON of a foreign hand: only where the values fit into memory. */

/** Above so many characters the values are counted first. */
const COUNTED_CHARS = 1024 * 1024;
const MAX_VALUES = 5_000_000;

const QUOTE = 34;
const BACKSLASH = 92;
/** Begin a value each, all but the first: `,`, `:`, `[`, `{`. */
const before = new Set([44, 58, 91, 123]);

/** Returns undefined for what is no JSON, and for more values than anything sends. */
export function parse(text: string): unknown {
  if (text.length > COUNTED_CHARS && hasTooMany(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hasTooMany(text: string): boolean {
  let count = 0;
  let inside = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (inside) {
      if (char === BACKSLASH) at++;
      else if (char === QUOTE) inside = false;
    } else if (char === QUOTE) inside = true;
    else if (before.has(char) && ++count > MAX_VALUES) return true;
  }
  return false;
}
