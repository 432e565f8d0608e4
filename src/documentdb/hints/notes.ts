/** Arranges the notes of one result: few, short, without duplicates, and changes of meaning first. */
import { limits } from '../../model/limits.ts';
import { cut } from './values.ts';

/** Keeps the order of the groups; a later group's duplicates are left out. */
export function arrangeNotes(...groups: readonly (readonly string[])[]): string[] {
  const { notes, noteChars } = limits.documents;
  const said = [...new Set(groups.flat().map((note) => cut(note, noteChars)))];
  if (said.length <= notes) return said;
  return [...said.slice(0, notes - 1), `${said.length - notes + 1} more notes were left out.`];
}
