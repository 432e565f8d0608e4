/** The seam for contexts of code, which clients look for at a port of their own: until there are any, it answers so. */
import { NotHere } from '../base/errors.ts';

export function answerContexts(): never {
  throw new NotHere('There are no contexts of code here: run code as a command.');
}
