/** Parses the Range header (RFC 9110, section 14): one range of bytes. Several, or another unit, count as none. */

export type RangeRequest = { start: number; end: number } | { suffixLength: number };

export interface ByteRange {
  start: number;
  /** Inclusive. */
  end: number;
}

/** Returns null for an absent, invalid or unsupported header: all bytes are then sent. */
export function parseRange(header: string | undefined): RangeRequest | null {
  const match = header === undefined ? null : /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header);
  if (!match) return null;
  const [, first = '', last = ''] = match;
  if (first === '') return last === '' ? null : { suffixLength: clamp(last) };
  const start = clamp(first);
  const end = last === '' ? Number.MAX_SAFE_INTEGER : clamp(last);
  return end < start ? null : { start, end };
}

/** Returns null when the file has no such bytes (416). */
export function resolveRange(range: RangeRequest, size: number): ByteRange | null {
  if ('suffixLength' in range) {
    if (range.suffixLength === 0 || size === 0) return null;
    return { start: Math.max(0, size - range.suffixLength), end: size - 1 };
  }
  return range.start >= size ? null : { start: range.start, end: Math.min(range.end, size - 1) };
}

function clamp(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}
