/** The notes of one result: few, short, each said once, and what changed the meaning first. */
import { limits } from '../../model/limits.ts';
import { cut } from './values.ts';

/** What is worth saying before a query is sent. */
export interface Advice {
  /** What of the query was changed. */
  changed: string[];
  /** What in it can hardly be meant. */
  doubtful: string[];
  /** What will make it slow. */
  slow: string[];
}

export const noAdvice: Advice = { changed: [], doubtful: [], slow: [] };

/** Groups in their order; what a later group repeats is left out. */
export function arrangeNotes(...groups: readonly (readonly string[])[]): string[] {
  const { notes, noteChars } = limits.documents;
  const said = [...new Set(groups.flat().map((note) => cut(note, noteChars)))];
  if (said.length <= notes) return said;
  return [...said.slice(0, notes - 1), `${said.length - notes + 1} more notes were left out.`];
}
