/**
 * Facts in which a service on a cluster, of two replicas, differs from one on one machine; docs/kubernetes.md lists them
 * for operators.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { objectName } from '../../../src/runtime/kubernetes/machine/names.ts';

const onCluster = process.env['SANDHAVEN_TEST_ENGINE'] === 'kubernetes';

export const replicaCount = onCluster ? 2 : 1;

/** Of a sandbox by its id: a Pod's name has no underscore. */
export const hostnameOf = (id: string): string => (onCluster ? objectName(id) : id);

/** Resources in use: not known of disks on a cluster, and of memory only where it has a metrics server. */
export const measured: unknown = onCluster ? null : expect.any(Number);

/** Fields that may be some seconds late, because another replica knows them first. */
export const knownLater: Record<string, unknown> = onCluster ? { last_activity_at: expect.any(String) } : {};

/** Resolves when every replica has written the audit rows of calls that were answered: each writes its own in batches. */
export async function auditWritten(): Promise<void> {
  if (onCluster) await delay(400);
}
