/** Removes what is left of a sandbox that no caller has seen: its machine, then its row. */
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { underLease } from '../base/tenure.ts';
import type { Replicas, Runtime, SandboxStore } from '../ports/index.ts';
import type { Watches } from './watches.ts';

export interface DiscardDependencies {
  store: Pick<SandboxStore, 'update' | 'reread' | 'remove'>;
  runtime: Pick<Runtime, 'destroy'>;
  watches: Pick<Watches, 'end'>;
  replicas: Replicas;
}

/**
 * Takes the row first, under a new generation: one that somebody else has taken meanwhile, such as a caller who claimed it,
 * is left alone. A row that is gone, or was never stored, has no owner any more; its machine goes.
 */
export function discard(d: DiscardDependencies, sandbox: Sandbox): Promise<void> {
  const { store, runtime, watches, replicas } = d;
  const { id, ownerId } = sandbox;
  return underLease(replicas, async () => {
    const row = (await take(store, sandbox)) ?? (await store.reread(id));
    // An earlier try may have taken it already.
    if (row && (row.operation !== 'creating' || row.ownerId !== ownerId)) return;
    watches.end(id);
    await runtime.destroy(id);
    if (row) await store.remove(id, row.generation);
  });
}

/**
 * Resolves when what a failed creation has left is gone, or after `limits.discardAnswerMs` while it still goes: the caller
 * gets the failure before a cluster that has just come back has removed a disk.
 * @param discarded Never rejects.
 */
export async function forAMoment(discarded: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limits.discardAnswerMs);
  });
  await Promise.race([discarded, late]);
  clearTimeout(timer);
}

/**
 * The row is `creating`: that hides it from its owner, and from a retry of the call that made it. Its name is free at once:
 * the machine may go late, on a node that does not answer, and another one is made in its place.
 */
function take(store: DiscardDependencies['store'], { id, generation }: Sandbox): Promise<Sandbox | null> {
  return store.update(id, generation, { operation: 'creating', generation: generation + 1, name: id });
}
