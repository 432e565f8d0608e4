/**
 * Error for bytes from the server that are no BSON. It is neither a defect of the service nor worth a retry, but
 * the caller should see it.
 */
import { SandhavenError } from '../../model/errors.ts';

export class MalformedBson extends SandhavenError {
  /** @param at Position in the document, in bytes, if known. */
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
