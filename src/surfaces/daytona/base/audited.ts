/** Work of a service that no tool has, under its name in the audit log. */
import { assertScope, type Scope } from '../../../model/scopes.ts';
import { subjectOf } from '../../http/base/origin.ts';
import type { DaytonaCall } from './call.ts';

export function audited<T>(
  { request, services, signal }: DaytonaCall,
  { action, scope }: { action: string; scope: Scope },
  work: () => Promise<T>,
): Promise<T> {
  return services.audit.call(subjectOf(request, action, signal), async () => {
    assertScope(request.caller, scope);
    return work();
  });
}
