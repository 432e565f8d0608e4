/** Which sandbox a call turned out to be about. Told by what resolves it, and known to nobody in between. */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface AuditScope {
  sandboxId: string | null;
}

const scopes = new AsyncLocalStorage<AuditScope>();

export function inScope<T>(scope: AuditScope, work: () => T): T {
  return scopes.run(scope, work);
}

/** Of the call that is being carried out; outside of one it says nothing. */
export function concerns(sandboxId: string): void {
  const scope = scopes.getStore();
  if (scope) scope.sandboxId = sandboxId;
}
