/**
 * Turns of a sandbox: work on it waits for the work before it, of this replica in its queue, of others by the row. What
 * was left half done is finished first.
 */
import { waiting } from '../../concurrency/span.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { underLease } from '../base/tenure.ts';
import type { Allowance, Log, Replicas, Runtime, SandboxPatch, SandboxStore } from '../ports/index.ts';
import type { OperationQueue } from './operation-queue.ts';
import type { OtherReplicas } from './other-replicas.ts';

export interface TurnDependencies {
  store: Pick<SandboxStore, 'reread' | 'remove'>;
  runtime: Pick<Runtime, 'destroy'>;
  queue: OperationQueue;
  operations: StoredOperations;
  replicas: Replicas;
  others: OtherReplicas;
  log: Log;
  /** Repeats `finish` until it succeeds. */
  finishLater(id: string): void;
}

/** The operations of machines, as far as a turn uses them. */
export interface StoredOperations {
  /** Stores a change of the row; null when the row has moved on. */
  tryAdvance(sandbox: Sandbox, patch: SandboxPatch, allowance?: Allowance): Promise<Sandbox | null>;
  /** Like `tryAdvance`; rejects when the row has moved on. */
  advance(sandbox: Sandbox, patch: SandboxPatch): Promise<Sandbox>;
  /** Goes on with the operation in progress until it is settled. */
  finish(sandbox: Sandbox, signal: AbortSignal): Promise<unknown>;
}

type Work<T> = (signal: AbortSignal) => Promise<T>;

export class Turns {
  readonly #deps: TurnDependencies;

  constructor(dependencies: TurnDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Changes settings in the sandbox's turn; null leaves them.
   * @param then Follows in the same turn, for what the machine has to know.
   * @param allowance Of the owner after the change.
   */
  change(
    id: string,
    patch: (sandbox: Sandbox) => SandboxPatch | null,
    then?: (changed: Sandbox, signal: AbortSignal) => Promise<void>,
    allowance?: Allowance,
  ): Promise<Sandbox> {
    return this.run(id, async (signal) => {
      for (let attempt = 1; attempt <= limits.replicas.overtaken; attempt++) {
        // Settings say what a stop does, so they do not change beneath one.
        const sandbox = await this.settled(id, signal);
        const wanted = patch(sandbox);
        const changed = wanted ? await this.#deps.operations.tryAdvance(sandbox, wanted, allowance) : sandbox;
        if (!changed) continue;
        await then?.(changed, signal);
        return changed;
      }
      throw overtaken();
    });
  }

  /** Runs work that ends with the lease of this replica: another one goes on with it. */
  run<T>(id: string, work: Work<T>): Promise<T> {
    return this.#inTurn(id, (begun) => this.#deps.queue.run(id, begun), work);
  }

  /** Like `run`, before all waiting work, which is rejected; the running one is broken off. */
  preempt<T>(id: string, work: Work<T>): Promise<T> {
    return this.#inTurn(id, (begun) => this.#deps.queue.preempt(id, begun), work);
  }

  /** Breaks off the work of this replica, for a delete by another one. */
  giveWay(id: string): void {
    this.#deps.queue.cancel(id);
  }

  /** Returns the row with no operation in progress, or with one that deletes. Rejects with `not_found`. */
  async settled(id: string, signal: AbortSignal): Promise<Sandbox> {
    const sandbox = await this.alone(id, false, signal);
    if (sandbox.operation === null || sandbox.operation === 'deleting') return sandbox;
    // Claimed from the warm pool since this turn was asked for: what its claim has yet to do has a turn behind this one.
    if (sandbox.operation === 'creating') throw stillBusy(sandbox.name);
    await this.#deps.operations.finish(await this.#taken(sandbox), signal);
    const finished = await this.alone(id, false, signal);
    if (finished.operation === null || finished.operation === 'deleting') return finished;
    throw stillBusy(finished.name);
  }

  /**
   * Returns the row once no other replica works on it. Rejects with `not_found`.
   * @param asks Whether the other replica is asked to break off.
   */
  async alone(id: string, asks: boolean, signal: AbortSignal): Promise<Sandbox> {
    const sandbox = await this.#deps.others.done(await this.#deps.store.reread(id), asks, signal);
    if (sandbox) return sandbox;
    throw new SandhavenError('not_found', 'The sandbox was deleted.', {
      resource: 'sandbox',
      hint: 'Call Sandbox.ListSandboxes to see the ones there are.',
    });
  }

  /** Finishes an operation that was stored and not settled. */
  async finish(id: string, signal: AbortSignal): Promise<void> {
    const sandbox = await this.#deps.others.done(await this.#deps.store.reread(id), false, signal);
    if (!sandbox) return;
    if (sandbox.operation === 'creating') await this.#discardLeft(sandbox);
    else await this.#deps.operations.finish(await this.#taken(sandbox), signal);
  }

  /**
   * Removes what is left of a creation that a replica which was given up, or an earlier try of this, did not finish: no
   * caller has seen it. A creation of this replica has its turn, so none is under way here.
   */
  async #discardLeft(sandbox: Sandbox): Promise<void> {
    const { id, generation } = await this.#taken(sandbox);
    await this.#deps.runtime.destroy(id);
    await this.#deps.store.remove(id, generation);
  }

  /** Returns the row of an operation that this replica may finish: a new generation fences the one that left it. */
  async #taken(sandbox: Sandbox): Promise<Sandbox> {
    if (!(await this.#deps.others.haveLeft(sandbox))) return sandbox;
    const { id, operation, generation } = sandbox;
    this.#deps.log.info('taking over the operation of a replica that is gone', { sandbox: id, operation });
    const taken = await this.#deps.operations.advance(sandbox, { operation, generation: generation + 1 });
    // From here on nobody else looks after it, whatever fails next.
    this.#deps.finishLater(id);
    return taken;
  }

  /** Notes the wait where there is one, in a trace. */
  #inTurn<T>(id: string, enqueue: (work: Work<T>) => Promise<T>, work: Work<T>): Promise<T> {
    const begin = (signal: AbortSignal) => this.#leased(signal, work);
    const wait = this.#deps.queue.busy(id) ? waiting('queue', { 'sandhaven.sandbox_id': id }) : null;
    if (!wait) return enqueue(begin);
    const begun = enqueue((signal) => {
      wait.end('ok');
      return begin(signal);
    });
    // Of work that is turned away; another wait has ended by then.
    return begun.finally(() => wait.end('cancelled'));
  }

  #leased<T>(signal: AbortSignal, work: Work<T>): Promise<T> {
    const { replicas } = this.#deps;
    return underLease(replicas, (lease) => work(replicas.shared ? AbortSignal.any([signal, lease]) : signal));
  }
}

function stillBusy(name: string): SandhavenError {
  return new SandhavenError('unavailable', `An earlier operation on sandbox '${name}' is not finished yet.`, {
    hint: 'Try again in a moment: the service goes on with it.',
    retryable: true,
  });
}

export function overtaken(): SandhavenError {
  return new SandhavenError('invalid_state', 'Another operation on the sandbox came in between.', {
    parameter: 'sandbox',
    hint: 'Call Sandbox.GetSandbox, then try again.',
    retryable: true,
  });
}
