/**
 * Reconciles the store and the machines when the service starts, after any end of the last process: adopts running
 * machines, finishes or removes unfinished ones, destroys orphans.
 *
 * Settled sandboxes are reconciled before this resolves; unfinished operations continue in the background, in the
 * sandboxes' own queues, so that calls on those sandboxes wait for them.
 */
import type { Unfinished } from '../../concurrency/unfinished.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { Log, Observed, Runtime, SandboxStore } from '../ports/index.ts';
import type { Machines } from './machines.ts';

export interface ReconcilerDependencies {
  store: SandboxStore;
  runtime: Runtime;
  machines: Machines;
  unfinished: Unfinished;
  log: Log;
  /** Returns true for a warm pool sandbox that is still usable. */
  keepsInPool(sandbox: Sandbox): boolean;
}

const CONCURRENCY = 8;
const GONE_REASON = 'Its machine ended while the service was away.';

export async function reconcile(dependencies: ReconcilerDependencies): Promise<void> {
  const { store, runtime, machines, unfinished, log } = dependencies;
  const sandboxes = await store.all();
  const observed = new Map((await runtime.observe()).map((seen) => [seen.id, seen]));
  const known = new Set(sandboxes.map(({ id }) => id));
  const orphans = [...observed.keys()].filter((id) => !known.has(id));
  const interrupted: Sandbox[] = [];

  await inParallel(orphans, async (id) => {
    log.warn('removing remains of an unknown sandbox', { sandbox: id });
    await unfinished.attempt(`remove ${id}`, () => runtime.destroy(id));
  });
  await inParallel(sandboxes, async (sandbox) => {
    try {
      const settled = await reconcileOne(dependencies, sandbox, observed.get(sandbox.id) ?? null);
      if (!settled) interrupted.push(sandbox);
    } catch (error) {
      log.error('sandbox could not be reconciled', { sandbox: sandbox.id, error });
    }
  });

  for (const { id, operation } of interrupted) {
    log.info('finishing an interrupted operation', { sandbox: id, operation });
    void machines.finish(id);
  }
}

/** Reconciles one sandbox; returns false for an operation that is left to finish. */
async function reconcileOne(
  { runtime, machines, keepsInPool }: ReconcilerDependencies,
  sandbox: Sandbox,
  seen: Observed | null,
): Promise<boolean> {
  const runs = seen !== null && seen.runningGeneration !== null;
  if (sandbox.operation === 'creating') {
    await machines.discard(sandbox);
    return true;
  }
  if (sandbox.operation !== null) {
    if (runs && sandbox.state === 'started') await machines.recall(sandbox);
    return false;
  }
  if (sandbox.ownerId === null && !keepsInPool(sandbox)) {
    await machines.retire(sandbox.id);
    return true;
  }
  if (sandbox.state === 'started') {
    const { runGeneration } = sandbox;
    if (runs && seen.runningGeneration === runGeneration) await machines.adopt(sandbox);
    else if (runGeneration !== null) await machines.exited(sandbox.id, runGeneration, GONE_REASON);
    return true;
  }
  // One on a node that does not answer is ended when the node is back.
  if (runs && !seen.unreachable) await machines.end(sandbox.id);
  if (sandbox.state === 'archived' && seen?.hasArchive && seen.hasDisk) await runtime.dropDisk(sandbox.id);
  if (sandbox.archive === null && seen?.hasDisk && seen.hasArchive) await runtime.dropArchive(sandbox.id);
  return true;
}

async function inParallel<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}
