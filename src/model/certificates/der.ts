/**
 * Writes ASN.1 values in their one binary form, DER (ITU-T X.690): as much as certificates need. Nothing here reads it,
 * so no foreign bytes come in.
 */

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;

export const sequence = (...values: Buffer[]): Buffer => tagged(tags.sequence, ...values);
export const set = (...values: Buffer[]): Buffer => tagged(tags.set, ...values);
export const octetString = (content: Buffer): Buffer => tagged(tags.octetString, content);
export const utf8String = (text: string): Buffer => tagged(tags.utf8String, Buffer.from(text));
export const truth = (): Buffer => tagged(tags.boolean, Buffer.of(0xff));

/** @param number [number] EXPLICIT: around a whole value. */
export const explicit = (number: number, ...values: Buffer[]): Buffer =>
  tagged(CONTEXT | CONSTRUCTED | number, ...values);

/** @param number [number] IMPLICIT: in place of the tag of a simple value. */
export const implicit = (number: number, content: Buffer): Buffer => tagged(CONTEXT | number, content);

/** @param bytes A number that is not negative, its most significant byte first. */
export function integer(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const shortest = first < 0 ? Buffer.of(0) : bytes.subarray(first);
  const [sign = 0] = shortest;
  return tagged(tags.integer, sign >= 0x80 ? Buffer.concat([Buffer.of(0), shortest]) : shortest);
}

/** @param unusedBits Of the last byte. */
export function bitString(content: Buffer, unusedBits = 0): Buffer {
  return tagged(tags.bitString, Buffer.of(unusedBits), content);
}

/** @param dotted Such as 2.5.4.3. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number);
  return tagged(tags.objectId, Buffer.from([first * 40 + second, ...others].flatMap(base128)));
}

/** Seconds since 1970, as certificates hold times: with two digits of the year until 2049 (RFC 5280, 4.1.2.5). */
export function time(seconds: number): Buffer {
  const text = `${new Date(seconds * 1000).toISOString().replaceAll(/[-:T]|\.\d+Z$/g, '')}Z`;
  const short = text >= '1950' && text < '2050';
  return tagged(short ? tags.utcTime : tags.generalizedTime, Buffer.from(short ? text.slice(2) : text));
}

function tagged(tag: number, ...parts: Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.of(tag), lengthOf(length), ...parts]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 0x100)) bytes.unshift(rest % 0x100);
  return Buffer.of(0x80 | bytes.length, ...bytes);
}

/** Groups of seven bits, all but the last marked. */
function base128(value: number): number[] {
  const groups = [value % 0x80];
  for (let rest = Math.floor(value / 0x80); rest > 0; rest = Math.floor(rest / 0x80)) {
    groups.unshift((rest % 0x80) | 0x80);
  }
  return groups;
}
