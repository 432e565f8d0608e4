/** What is said of documents that are no BSON: the server's bytes are as little trusted as a caller's. */
import { SandhavenError } from '../../model/errors.ts';

export function malformed(what: string): SandhavenError {
  return new SandhavenError('unavailable', `The database sent a document that is not valid BSON: ${what}.`, {
    hint: 'Try again; if it stays, a document of the collection is damaged, and its operator has to look at it.',
  });
}
