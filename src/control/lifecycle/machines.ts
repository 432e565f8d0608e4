/**
 * Requests for machines, each in its sandbox's turn: of a caller, of the scheduler, of the reconciler that finishes
 * the operations of an earlier process. Only this file and `operations.ts` change a machine, or the state of a stored
 * sandbox after its creation.
 */
import type { Unfinished } from '../../concurrency/unfinished.ts';
import { type Command, type Decision, decide } from '../../model/lifecycle.ts';
import { limits } from '../../model/limits.ts';
import { type NodeLoss, nodeAway } from '../../model/lost-node.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { withoutPassedStop } from '../../model/sleep.ts';
import type { AwayMachines } from '../base/away-machines.ts';
import type { Quotas } from '../callers/quotas.ts';
import type { Allowance, Comparable } from '../ports/index.ts';
import type { Networked, Networks } from '../reach/networks.ts';
import type { SandboxTrust } from '../reach/sandbox-trust.ts';
import type { OperationQueue } from '../turns/operation-queue.ts';
import type { OtherReplicas } from '../turns/other-replicas.ts';
import { overtaken, Turns } from '../turns/turns.ts';
import { cannotArchive } from './archives.ts';
import { assertRoomToStart, type DiskPromises } from './capacity.ts';
import { discard, forAMoment } from './discard.ts';
import { type Loss, Operations, type OperationsDependencies, type Settled } from './operations.ts';

export interface MachinesDependencies extends Omit<OperationsDependencies, 'finishLater' | 'exited'> {
  queue: OperationQueue;
  quotas: Pick<Quotas, 'allowance'>;
  disks: Pick<DiskPromises, 'assertRoomFor'>;
  networks: Pick<Networks, 'put' | 'keep'>;
  trust: Pick<SandboxTrust, 'put' | 'keep'>;
  others: OtherReplicas;
  away: Pick<AwayMachines, 'has'>;
  /** null where machines have no nodes that may be lost. */
  nodeLoss: NodeLoss | null;
  unfinished: Unfinished;
}

const NODE_GONE_REASON = 'Its machine ended while its node did not answer.';

export interface CommandOptions {
  /** Text for `state_reason`, for commands without a caller. */
  reason?: string;
  /** Awaited in the command's turn before it begins; a rejection leaves the sandbox unchanged. */
  before?(sandbox: Sandbox, signal: AbortSignal): Promise<void>;
  /**
   * Called in the command's turn; false leaves the sandbox unchanged. A command with it waits for its turn, even a
   * delete.
   */
  stillWanted?(sandbox: Sandbox): boolean;
}

export class Machines {
  readonly #deps: MachinesDependencies;
  readonly #operations: Operations;
  readonly #turns: Turns;

  constructor(dependencies: MachinesDependencies) {
    this.#deps = dependencies;
    const finishLater = (id: string) => this.#finishLater(id);
    this.#operations = new Operations({
      ...dependencies,
      finishLater,
      exited: (...machine) => this.exited(...machine),
    });
    this.#turns = new Turns({ ...dependencies, operations: this.#operations, finishLater });
  }

  /** Decides and performs a command in the sandbox's turn. A refused command changes nothing. */
  command(
    id: string,
    command: Exclude<Command, { type: 'use' }>,
    options: CommandOptions = {},
  ): Promise<Settled> {
    const preempts = command.type === 'delete';
    const comesNext = preempts && !options.stillWanted;
    const work = async (signal: AbortSignal): Promise<Settled> => {
      for (let attempt = 1; attempt <= limits.replicas.overtaken; attempt++) {
        const sandbox = preempts
          ? await this.#turns.alone(id, comesNext, signal)
          : await this.#turns.settled(id, signal);
        if (options.stillWanted?.(sandbox) === false) return { sandbox, deleted: false };
        const decision = decide(sandbox, command);
        if (decision.kind === 'refused') throw decision.error;
        if (decision.kind === 'unchanged') return { sandbox, deleted: false };
        await options.before?.(sandbox, signal);
        const begun = await this.#begin(sandbox, decision, options);
        if (begun) return this.#operations.carryOut(begun, signal);
      }
      throw overtaken();
    };
    return comesNext ? this.#turns.preempt(id, work) : this.#turns.run(id, work);
  }

  /** Changes settings in the sandbox's turn. */
  change: Turns['change'] = (...given) => this.#turns.change(...given);

  /**
   * Finishes an operation that was stored and not settled, by an earlier process or for want of room in the store;
   * repeated when it fails.
   */
  finish(id: string): Promise<void> {
    return this.#deps.unfinished.attempt(`finish ${id}`, () =>
      this.#turns.run(id, async (signal) => {
        try {
          await this.#turns.finish(id, signal);
        } catch (error) {
          if (!signal.aborted) throw error;
          // Broken off, by a delete or with the lease: the next turn finds what is left of it.
          this.#finishLater(id);
        }
      }),
    );
  }

  #finishLater(id: string): void {
    this.#deps.unfinished.add(`finish ${id}`, () => this.finish(id));
  }

  /**
   * Starts the machine of a row that is `creating`, and settles it. What a failure leaves is discarded.
   * @param from Captured disk that its disk is made from.
   */
  create(sandbox: Sandbox, from?: string): Promise<Sandbox> {
    return this.#orDiscard(sandbox, async (signal) => {
      await this.#operations.bringUp(sandbox, signal, from);
      const now = this.#deps.clock.now();
      const created = await this.#operations.advance(sandbox, {
        operation: null,
        state: 'started',
        runGeneration: sandbox.generation,
        startedAt: now,
        lastActivityAt: now,
      });
      this.#operations.watch(created);
      return created;
    });
  }

  /**
   * Gives the running machine of a claimed row the row's sizes, network and secrets, and settles the row. What a failure
   * leaves is discarded.
   */
  fit(sandbox: Sandbox): Promise<Sandbox> {
    return this.#orDiscard(sandbox, async () => {
      await this.#deps.networks.put(sandbox);
      await this.#deps.trust.put(sandbox);
      await this.#deps.runtime.resizeLive(sandbox.id, sandbox.resources);
      return this.#operations.advance(sandbox, { operation: null });
    });
  }

  /** Removes the machine, then the row; repeated when it fails. Only for rows that no caller has seen. */
  discard(sandbox: Sandbox): Promise<void> {
    return this.#deps.unfinished.attempt(`discard ${sandbox.id}`, () => discard(this.#deps, sandbox));
  }

  /** Settles the unexpected end of the machine of this generation; repeated when it fails. */
  exited(id: string, runGeneration: number, reason: string): Promise<void> {
    return this.#deps.unfinished.attempt(`settle the end of ${id}`, () =>
      this.#turns.run(id, async () => {
        const sandbox = await this.#deps.store.reread(id);
        if (sandbox?.runGeneration !== runGeneration || sandbox.operation !== null) return;
        if (await this.#stillRuns(id, runGeneration)) return this.#operations.watch(sandbox);
        const { away, nodeLoss } = this.#deps;
        const byNode = away.has(id, runGeneration);
        const outcome: Loss = { type: 'exited', reason: byNode ? NODE_GONE_REASON : reason };
        await this.#operations.lose(
          sandbox,
          byNode && nodeLoss?.restarts ? { type: 'unreachable' } : outcome,
        );
      }),
    );
  }

  /**
   * Settles the machine of this generation, if its node still does not answer; it may go on running. Returns false while
   * an operation is in progress.
   */
  unreachable(id: string, runGeneration: number): Promise<boolean> {
    return this.#turns.run(id, async () => {
      const { store, runtime, others } = this.#deps;
      const sandbox = await store.reread(id);
      if (sandbox?.runGeneration !== runGeneration || sandbox.state !== 'started') return true;
      // A resize is repeated for as long as its node is away.
      const ends = sandbox.operation === null || sandbox.operation === 'resizing';
      if (!ends || (await others.workOn(sandbox))) return false;
      const seen = await runtime.inspect(id);
      if (!seen?.unreachable || seen.runningGeneration !== runGeneration) return false;
      await this.#operations.abandon(sandbox);
      return true;
    });
  }

  /** Ends the machine of a settled sandbox that has none; repeated when it fails. */
  end(id: string): Promise<void> {
    return this.#deps.unfinished.attempt(`end ${id}`, () =>
      this.#turns.run(id, async () => {
        const sandbox = await this.#deps.store.reread(id);
        if (sandbox?.operation === null && sandbox.runGeneration === null) {
          await this.#deps.runtime.stop(id, 0, sandbox.generation);
        }
      }),
    );
  }

  /** Deletes a pool sandbox that nobody has claimed; repeated when it fails. */
  retire(id: string): Promise<void> {
    return this.#deps.unfinished.attempt(`retire ${id}`, () =>
      this.#turns.run(id, async (signal) => {
        const sandbox = await this.#deps.store.reread(id);
        if (sandbox?.ownerId === null && sandbox.operation === null)
          await this.#operations.drop(sandbox, signal);
      }),
    );
  }

  /** Adopts a running machine. */
  async adopt(sandbox: Comparable): Promise<void> {
    await this.recall(sandbox);
    this.#operations.watch(sandbox);
    // One that sleeps says who it is when it is woken.
    if (this.#deps.runtime.sleep?.since(sandbox.id) != null) return;
    await this.#deps.agent.hello(sandbox.id, sandbox.runGeneration ?? sandbox.generation);
  }

  /** Returns the reason why a started sandbox is paused; null when it runs. */
  pausedReason(id: string): string | null {
    return this.#deps.runtime.pausedReason(id);
  }

  /** Gives the engine back what it keeps in memory alone about a running machine. */
  async recall(sandbox: Networked): Promise<void> {
    this.#deps.runtime.assign(sandbox.id, sandbox.ownerId);
    await this.#deps.networks.keep(sandbox);
  }

  /** Leaves operations that the stop of this process breaks off to the next one. */
  leave(): void {
    this.#operations.leave();
  }

  /** Breaks off the operation that runs here, for a delete by another replica. */
  giveWay(id: string): void {
    this.#turns.giveWay(id);
  }

  async #orDiscard(sandbox: Sandbox, work: (signal: AbortSignal) => Promise<Sandbox>): Promise<Sandbox> {
    try {
      return await this.#turns.run(sandbox.id, work);
    } catch (error) {
      await forAMoment(this.discard(sandbox));
      throw error;
    }
  }

  /** Stores the operation; null when the row has moved on. */
  async #begin(
    sandbox: Sandbox,
    { operation, resizeTarget, rollbackTo = null }: Extract<Decision, { kind: 'begin' }>,
    { reason, stillWanted }: CommandOptions,
  ): Promise<Sandbox | null> {
    if (operation === 'archiving' && !this.#deps.runtime.capabilities.archive) throw cannotArchive();
    const starts = (operation === 'starting' || operation === 'restoring') && sandbox.state !== 'started';
    if (starts && sandbox.state === 'error') await this.#assertNodeAnswers(sandbox.id);
    if (starts) await assertRoomToStart(this.#deps.runtime, sandbox.resources);
    const grows = resizeTarget !== null && resizeTarget.disk > sandbox.resources.disk;
    if (grows) await this.#deps.disks.assertRoomFor(resizeTarget.disk, sandbox.resources.disk);
    const patch = {
      operation,
      resizeTarget,
      rollbackTo,
      generation: sandbox.generation + 1,
      ...(reason === undefined ? {} : { stateReason: reason }),
      // A caller's start is a new run. One that goes on by itself after a loss is stopped once it runs.
      ...(starts && !stillWanted ? withoutPassedStop(sandbox, this.#deps.clock.now()) : {}),
    };
    const takesMore = starts || operation === 'resizing';
    const allowance = takesMore ? await this.#allowance(sandbox) : undefined;
    // Another replica may have begun a use since the row was read.
    const unusedSince = stillWanted ? sandbox.lastActivityAt : undefined;
    return this.#operations.tryAdvance(sandbox, patch, allowance, unusedSince);
  }

  /**
   * Returns true for a machine that was only out of sight: the report of its end may come from an old copy, or may have
   * waited for its turn since an outage.
   */
  async #stillRuns(id: string, runGeneration: number): Promise<boolean> {
    return (await this.#deps.runtime.inspect(id))?.runningGeneration === runGeneration;
  }

  /** A machine on a node that does not answer may run, and hold the disk. */
  async #assertNodeAnswers(id: string): Promise<void> {
    if ((await this.#deps.runtime.inspect(id))?.unreachable) throw nodeAway();
  }

  async #allowance({ ownerId }: Sandbox): Promise<Allowance | undefined> {
    return ownerId === null ? undefined : this.#deps.quotas.allowance(ownerId);
  }
}
