/** Writes the notes about strings read as other types. */
import { limits } from '../../../model/limits.ts';
import { listedAs, named, show } from '../../hints/values.ts';
import type { ReadString } from './read-values.ts';

/** For a result that only the other form of the filter yielded. */
export function tellCoerced(strings: readonly ReadString[], parameter: string): string {
  const asked = `This result also compares ${compared(strings)}, as the strings may have been meant.`;
  return `${parameter} matches nothing as written. ${asked}${remarks(strings)}`;
}

/** For a result that stayed empty. */
export function tellNeither(strings: readonly ReadString[], parameter: string): string {
  return `${parameter} matches nothing as written, nor where it compares ${compared(strings)}.${remarks(strings)}`;
}

/** For another form that failed, or ran out of time. */
export function tellUntried(strings: readonly ReadString[], parameter: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return `${parameter}: the form that also compares ${compared(strings)} could not be tried: ${reason}`;
}

/** `created_at with {"$date": …} and {"$date": …}, customer_id with {"$oid": …}` */
function compared(strings: readonly ReadString[]): string {
  const groups = [...Map.groupBy(strings, ({ path }) => path)];
  return listedAs(groups, ([path, group]) => {
    // Grouped by text, since there may be very many, and only a few are written out.
    const values = [...new Map(group.map(({ text, reading }) => [text, reading.values[0]])).values()];
    const most = Math.max(1, Math.floor(limits.documents.noteItems / groups.length));
    return `${named(path)} with ${listedAs(values, show, most)}`;
  });
}

/** Explains the reading of a date where its text is ambiguous. */
function remarks(strings: readonly ReadString[]): string {
  const days = strings.filter(({ reading }) => reading.dayOnly);
  const said: string[] = [];
  if (strings.some(({ reading }) => reading.zoneAssumed))
    said.push(' A time without an offset was taken as UTC.');
  if (days.length > 0) said.push(' A date alone means its midnight, UTC.');
  if (days.some(({ operator }) => operator === '$lte')) {
    said.push(' $lte leaves out the rest of that day; $lt of the next day has it.');
  }
  if (days.some(({ operator }) => operator === '$eq')) {
    said.push(' For the whole day use $gte of it and $lt of the next.');
  }
  return said.join('');
}
