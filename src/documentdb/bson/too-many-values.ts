/** Shared error text of parser and guard for one value too many. */
import { limits } from '../../model/limits.ts';

export const tooManyValues = {
  problem: `is more than ${limits.documents.queryNodes} values into the query`,
  hint: 'Ask for less at once, for instance with a shorter $in.',
};
