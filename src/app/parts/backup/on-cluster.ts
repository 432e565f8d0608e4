/** The refusal of both commands for a service on Kubernetes. */
import { SandhavenError } from '../../../model/errors.ts';

export function refuseOnCluster(): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    'A service on Kubernetes is backed up with the means of the cluster: pg_dump of its database, then volume snapshots of its claims.',
    { hint: 'Keep its secret key too; docs/backup.md has the steps.' },
  );
}
