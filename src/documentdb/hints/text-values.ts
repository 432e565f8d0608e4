/** Values that callers write as plain strings and documents hold as types of their own. */
import { ObjectId } from 'bson';

export interface Reading {
  type: 'objectId' | 'date';
  value: ObjectId | Date;
  /** The text has no time: its midnight was taken. */
  dayOnly: boolean;
  /** The text has no offset: UTC was taken. */
  zoneAssumed: boolean;
}

/** null for a text that is neither. None is both. */
export function readText(text: string): Reading | null {
  if (/^[0-9a-f]{24}$/i.test(text)) {
    return { type: 'objectId', value: new ObjectId(text), dayOnly: false, zoneAssumed: false };
  }
  return readDate(text);
}

const DATE =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,9}))?)?(Z|z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/;

function readDate(text: string): Reading | null {
  const match = DATE.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second = '00', fraction = '', zone] = match;
  const midnight = new Date(`${year}-${month}-${day}T00:00:00Z`);
  // The 30th of February is not the 1st of March.
  if (Number.isNaN(midnight.getTime()) || midnight.getUTCDate() !== Number(day)) return null;
  if (hour === undefined) return { type: 'date', value: midnight, dayOnly: true, zoneAssumed: false };
  const time = `${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
  const value = new Date(new Date(`${year}-${month}-${day}T${time}`).getTime() - offsetMs(zone ?? 'Z'));
  return { type: 'date', value, dayOnly: false, zoneAssumed: zone === undefined };
}

function offsetMs(zone: string): number {
  if (zone.toUpperCase() === 'Z') return 0;
  const digits = zone.slice(1).replace(':', '');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || 0);
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

/** The shortest exact form, for notes. */
export function writeReading({ value }: Pick<Reading, 'value'>): string {
  if (value instanceof Date) return `{"$date": "${value.toISOString().replace('.000Z', 'Z')}"}`;
  return `{"$oid": "${value.toHexString()}"}`;
}
