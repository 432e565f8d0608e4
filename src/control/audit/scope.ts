/** Scope of one call. Carries the resolved sandbox, and the user it is about, to the audit row, past all code in between. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { describeSpan } from '../../concurrency/span.ts';

export interface AuditScope {
  sandboxId: string | null;
  /** Another user whose account an admin looks at or changes: that user sees the row. */
  userId: string | null;
}

const scopes = new AsyncLocalStorage<AuditScope>();

export function inScope<T>(scope: AuditScope, work: () => T): T {
  return scopes.run(scope, work);
}

/** Records another user whom the current call of an admin is about. */
export function concernsUser(userId: string): void {
  const scope = scopes.getStore();
  if (scope) scope.userId = userId;
}

/** Records the sandbox of the current call, and of its span; does nothing outside of one. */
export function concerns(sandboxId: string): void {
  describeSpan({ 'sandhaven.sandbox_id': sandboxId });
  const scope = scopes.getStore();
  if (scope) scope.sandboxId = sandboxId;
}
