/** Values that callers write as plain strings and documents hold as types of their own. */
import { ObjectId } from 'bson';
import { parseInstant } from '../bson/instant.ts';

export interface Reading {
  type: 'objectId' | 'date';
  value: ObjectId | Date;
  /** The text has no time: its midnight was taken. */
  dayOnly: boolean;
  /** The text has a time without an offset: UTC was taken. */
  zoneAssumed: boolean;
}

/** null for a text that is neither. None is both. */
export function readText(text: string): Reading | null {
  if (/^[0-9a-f]{24}$/i.test(text)) {
    return { type: 'objectId', value: new ObjectId(text), dayOnly: false, zoneAssumed: false };
  }
  const ms = parseInstant(text);
  if (ms === null) return null;
  const time = /[Tt ](.*)$/.exec(text)?.[1];
  const zoneAssumed = time !== undefined && !/[Zz+-]/.test(time);
  return { type: 'date', value: new Date(ms), dayOnly: time === undefined, zoneAssumed };
}
