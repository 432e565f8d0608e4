/**
 * The lease under which work began. Work that outlives it, on a host that was suspended for example, changes nothing any
 * more, even when its replica has a new lease by then: others may have taken the work over.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Replicas } from '../ports/index.ts';

const leases = new AsyncLocalStorage<AbortSignal>();

/** Runs work under the present lease. Throws `unavailable` without one. */
export function underLease<T>(replicas: Replicas, work: (lease: AbortSignal) => T): T {
  replicas.assertLeased();
  const { lease } = replicas;
  return replicas.shared ? leases.run(lease, () => work(lease)) : work(lease);
}

/** Returns true for work that has outlived its lease. */
export function leaseIsOver(replicas: Replicas): boolean {
  const lease = leases.getStore();
  if (!lease) return false;
  // Ends a lease whose timer is late.
  try {
    replicas.assertLeased();
  } catch {
    return true;
  }
  return lease.aborted;
}

/** Throws `unavailable` in work that has outlived its lease; called before each change outside the store. */
export function assertTenure(replicas: Replicas): void {
  if (!leaseIsOver(replicas)) return;
  replicas.assertLeased();
  leases.getStore()?.throwIfAborted();
}
