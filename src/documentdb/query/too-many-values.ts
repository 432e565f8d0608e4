/** What is said of the value that is one too many, by what reads a query and by what judges it. */
import { limits } from '../../model/limits.ts';

export const tooManyValues = {
  problem: `is more than ${limits.documents.queryNodes} values into the query`,
  hint: 'Ask for less at once, for instance with a shorter $in.',
};
