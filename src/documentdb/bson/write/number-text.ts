/**
 * Writes numbers and times as text straight into a buffer. Every function takes its start and returns its end;
 * the caller has reserved `NUMBER_BYTES`.
 */

/** Exceeds every number and time. */
export const NUMBER_BYTES = 40;

const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const INT32 = 2 ** 31;
const DAY_MS = 86_400_000;

/** Writes an integer within ±2^53. */
export function writeInteger(out: Uint8Array, at: number, value: number): number {
  if (value >= INT32 || value <= -INT32) return writeAscii(out, at, String(value));
  let rest = value;
  if (rest < 0) {
    out[at++] = MINUS;
    rest = -rest;
  }
  const end = at + digitsOf(rest);
  for (let place = end - 1; place >= at; place--) {
    const tenth = (rest / 10) | 0;
    out[place] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
  return end;
}

/**
 * Writes a finite double in a form that reads back as the same one: the shortest, but never that of an integer.
 *
 * Most have at most two decimals. One with 15 significant digits or fewer is the shortest form of its double, so a
 * quotient of an int32 by 100 needs no search for it.
 */
export function writeDouble(out: Uint8Array, at: number, value: number): number {
  const whole = value | 0;
  if (whole === value && (whole !== 0 || !Object.is(value, -0))) {
    return writePointZero(out, writeInteger(out, at, whole));
  }
  const cents = Math.round(value * 100);
  if (cents !== 0 && cents > -INT32 && cents < INT32 && cents / 100 === value)
    return writeCents(out, at, cents);
  if (Object.is(value, -0)) return writeAscii(out, at, '-0.0');
  return writeAscii(out, at, Number.isInteger(value) ? value.toFixed(1) : String(value));
}

/** Writes an instant from 1970 to 9999, with milliseconds only when they are not 0. */
export function writeInstant(out: Uint8Array, at: number, ms: number): number {
  const days = Math.floor(ms / DAY_MS);
  let rest = ms - days * DAY_MS;
  let to = writeDay(out, at, days);
  out[to++] = 0x54; // T
  to = writePair(out, to, (rest / 3_600_000) | 0);
  rest %= 3_600_000;
  out[to++] = 0x3a; // :
  to = writePair(out, to, (rest / 60_000) | 0);
  rest %= 60_000;
  out[to++] = 0x3a;
  to = writePair(out, to, (rest / 1000) | 0);
  rest %= 1000;
  if (rest > 0) {
    out[to++] = POINT;
    out[to++] = ZERO + ((rest / 100) | 0);
    to = writePair(out, to, rest % 100);
  }
  out[to++] = 0x5a; // Z
  return to;
}

export function writeAscii(out: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) out[at++] = text.charCodeAt(i);
  return at;
}

/** Years begin in March here, so that a leap day is a year's last. */
function writeDay(out: Uint8Array, at: number, daysSince1970: number): number {
  const days = daysSince1970 + 719_468;
  const era = (days / 146_097) | 0;
  const ofEra = days - era * 146_097;
  const year = ((ofEra - ((ofEra / 1460) | 0) + ((ofEra / 36_524) | 0) - ((ofEra / 146_096) | 0)) / 365) | 0;
  const ofYear = ofEra - (365 * year + ((year / 4) | 0) - ((year / 100) | 0));
  const fromMarch = ((5 * ofYear + 2) / 153) | 0;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const shown = year + era * 400 + (month <= 2 ? 1 : 0);
  let to = writePair(out, at, (shown / 100) | 0);
  to = writePair(out, to, shown % 100);
  out[to++] = MINUS;
  to = writePair(out, to, month);
  out[to++] = MINUS;
  return writePair(out, to, ofYear - (((153 * fromMarch + 2) / 5) | 0) + 1);
}

function writeCents(out: Uint8Array, at: number, cents: number): number {
  let rest = cents;
  if (rest < 0) {
    out[at++] = MINUS;
    rest = -rest;
  }
  const whole = (rest / 100) | 0;
  const part = rest - whole * 100;
  let to = writeInteger(out, at, whole);
  out[to++] = POINT;
  to = writePair(out, to, part);
  return part % 10 === 0 ? to - 1 : to;
}

function writePointZero(out: Uint8Array, at: number): number {
  out[at] = POINT;
  out[at + 1] = ZERO;
  return at + 2;
}

function writePair(out: Uint8Array, at: number, value: number): number {
  const tens = (value / 10) | 0;
  out[at] = ZERO + tens;
  out[at + 1] = ZERO + value - tens * 10;
  return at + 2;
}

function digitsOf(value: number): number {
  if (value < 10) return 1;
  if (value < 100) return 2;
  if (value < 1_000) return 3;
  if (value < 10_000) return 4;
  if (value < 100_000) return 5;
  if (value < 1_000_000) return 6;
  if (value < 10_000_000) return 7;
  if (value < 100_000_000) return 8;
  return value < 1_000_000_000 ? 9 : 10;
}
