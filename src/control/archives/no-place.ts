/** The refusal of a service whose archives have no place. */
import { SandhavenError } from '../../model/errors.ts';

export function cannotArchive(): SandhavenError {
  return new SandhavenError('failed_precondition', 'Sandboxes of this service cannot be archived.', {
    hint: 'Stop the sandbox instead: its disk stays. The operator can give archives a place with --archive-store s3://…',
  });
}
