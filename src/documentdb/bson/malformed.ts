/** Bytes that are no BSON, sent by the server: its fault and not the caller's, but one that the caller should see. */
import { SandhavenError } from '../../model/errors.ts';

export class MalformedBson extends SandhavenError {
  /** @param at Where in the document, in bytes. */
  constructor(problem: string, at: number) {
    super(
      'internal',
      `The document database sent a document that is not valid BSON: ${problem} at byte ${at}.`,
      { hint: 'Leave the damaged document out with a filter; the operator of the database can repair it.' },
    );
    this.name = 'MalformedBson';
  }
}
