/** Finds keys that would reach the database changed. */
import type { SyntaxProblem } from './foreign-spelling.ts';
import { shorten } from './place.ts';

/** Returns null for a valid key. */
export function keyProblem(key: string, isTaken: boolean): SyntaxProblem | null {
  if (!key.isWellFormed()) {
    return { problem: 'has a key with half of a surrogate pair', hint: 'Give a key of whole characters.' };
  }
  if (key.includes('\0')) {
    return { problem: 'has a key with a NUL', hint: 'The names of fields hold no NUL.' };
  }
  if (key === '_bsontype') {
    return {
      problem: 'has the key _bsontype',
      hint: 'The driver keeps this name for itself; leave it out.',
    };
  }
  return isTaken ? twice(key) : null;
}

function twice(key: string): SyntaxProblem {
  const hint = key.startsWith('$')
    ? 'Which one is meant? Put both into one, or into {"$and": [{…}, {…}]}.'
    : 'Which one is meant? Put both conditions on the field into one: {"field": {"$gte": 1, "$lt": 5}}.';
  return { problem: `has the key ${JSON.stringify(shorten(key))} a second time`, hint };
}
