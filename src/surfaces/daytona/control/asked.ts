/**
 * Fields of requests that ask for something. Clients send a null, a zero or an empty text or list for want of a value, so a field
 * that is not here may be sent as long as it asks for nothing.
 */
import { NotHere } from '../base/errors.ts';

export function isAsked(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** Throws `NotHere` for the first field that is asked for, with its sentence. */
export function assertNone(body: Record<string, unknown>, refusals: Record<string, string>): void {
  const [field] = Object.keys(refusals).filter((name) => isAsked(body[name]));
  if (field !== undefined) throw new NotHere(`${field}: ${refusals[field]}`);
}
