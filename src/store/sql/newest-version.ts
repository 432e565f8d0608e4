/** The newest version of the schema that this service knows; a database beyond it is not touched. */
import { SandhavenError } from '../../model/errors.ts';
import type { Migration } from './schema.ts';

/** Throws `failed_precondition` for a database that a newer service has migrated. @param found Its version. */
export function refuseNewer(found: number, steps: readonly Migration[]): void {
  const newest = steps.at(-1)?.version ?? 0;
  if (found <= newest) return;
  throw new SandhavenError(
    'failed_precondition',
    `The database has schema version ${found}; this service knows versions up to ${newest}.`,
    { hint: 'Start the newer service that wrote it, or restore a backup from before that one.' },
  );
}
