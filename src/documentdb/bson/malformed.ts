/**
 * Bytes that are no BSON, sent by the server. It is neither a defect of the service nor worth trying again, but the
 * caller should see it.
 */
import { SandhavenError } from '../../model/errors.ts';

export class MalformedBson extends SandhavenError {
  /** @param at Where in the document, in bytes, as far as that is known. */
  constructor(problem: string, at?: number) {
    const place = at === undefined ? '' : ` at byte ${at}`;
    super(
      'unavailable',
      `The document database sent a document that is not valid BSON: ${problem}${place}.`,
      {
        hint: 'Leave the damaged document out with a filter; the operator of the database can repair it.',
        retryable: false,
      },
    );
    this.name = 'MalformedBson';
  }
}
