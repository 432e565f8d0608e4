/**
 * A store as one process sees it: a write is visible to all at once, and its promise resolves when it is settled. What
 * work in the background reads is settled first. A full disk refuses a write, which then changes nothing.
 */
import type { Store } from '../../../src/control/ports/index.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import type { Journal } from '../core/journal.ts';

export interface Gate {
  journal: Journal;
  /** Resolves when the simulation delivers it; cannot fail. */
  answer(label: string): Promise<void>;
  /** Whether the store's disk is full now. */
  full(): boolean;
}

type Method = (...given: never[]) => Promise<unknown>;

const writes = new Set([
  'insert',
  'claim',
  'update',
  'remove',
  'touch',
  'put',
  'prune',
  'delete',
  'hold',
  'release',
]);
const readsSettled = new Set(['all', 'comparable', 'inProgress', 'schedulable', 'archives', 'pool']);

export function gatedStore(store: Store, gate: Gate): Store {
  return {
    ...store,
    sandboxes: gated('sandboxes', store.sandboxes, gate),
    snapshots: gated('snapshots', store.snapshots, gate),
    idempotency: gated('idempotency', store.idempotency, gate),
  };
}

function gated<T extends object>(table: string, part: T, gate: Gate): T {
  const methods = Object.entries(part as Record<string, Method>).map(([name, method]) => {
    const label = `store: ${table}.${name}`;
    if (writes.has(name)) return [name, settling(label, method, gate)];
    if (readsSettled.has(name)) return [name, afterSettling(label, method, gate)];
    return [name, method];
  });
  return Object.fromEntries(methods) as T;
}

function settling(label: string, method: Method, { journal, answer, full }: Gate): Method {
  return async (...given) => {
    if (full()) throw new SandhavenError('resource_exhausted', "The disk of the service's data is full.", {});
    const result = await method(...given);
    await settled(label, journal, answer);
    return result;
  };
}

function afterSettling(label: string, method: Method, { journal, answer }: Gate): Method {
  return async (...given) => {
    await settled(label, journal, answer);
    return method(...given);
  };
}

async function settled(label: string, journal: Journal, answer: Gate['answer']): Promise<void> {
  const { written } = journal;
  await answer(label);
  journal.settle(written);
}
