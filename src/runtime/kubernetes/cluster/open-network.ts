/** Network policies of sandboxes on a cluster: the open one alone, which the NetworkPolicy of all Pods holds. */
import { SandhavenError } from '../../../model/errors.ts';
import type { LearningPolicy, NetworkPolicy } from '../../../model/network/policy.ts';

/** Throws `failed_precondition` for a policy that nothing here would put in force. */
export function assertOpen({ mode }: NetworkPolicy | LearningPolicy): void {
  if (mode === 'open') return;
  throw new SandhavenError('failed_precondition', 'On Kubernetes sandboxes have no network policies.', {
    parameter: 'network',
    hint: 'Leave network out, or set it to open.',
  });
}
