/**
 * Carries out operations on machines, and settles them. Called in the sandbox's turn, with a row whose operation is
 * stored. An operation that cannot be settled stays stored, and is finished later.
 */
import { inOwnSpan } from '../../concurrency/span.ts';
import { deletedByStop, type Outcome, type Settlement, settle } from '../../model/lifecycle.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { leaseIsOver } from '../base/tenure.ts';
import type {
  AgentLink,
  Allowance,
  Clock,
  Images,
  Log,
  Replicas,
  Runtime,
  SandboxPatch,
  SandboxStore,
} from '../ports/index.ts';
import type { Networks } from '../reach/networks.ts';
import type { SandboxTrust } from '../reach/sandbox-trust.ts';
import type { SecretUses } from '../reach/secret-uses.ts';
import type { Activity } from '../turns/activity.ts';
import { overtaken } from '../turns/turns.ts';
import type { KeptSessions } from '../work/kept-sessions.ts';
import { dropSpare, type Spare, spareAfter, spareLeft, tryToDropSpare } from './archives.ts';
import { afterPutBack, consequences, failureOf, isDeclined } from './consequences.ts';
import { MachineWork } from './machine-work.ts';
import type { Watches } from './watches.ts';

export interface OperationsDependencies {
  store: SandboxStore;
  runtime: Runtime;
  images: Images;
  agent: AgentLink;
  activity: Activity;
  watches: Watches;
  networks: Pick<Networks, 'put'>;
  secrets: Pick<SecretUses, 'environment'>;
  trust: Pick<SandboxTrust, 'keep'>;
  sessions: Pick<KeptSessions, 'keep' | 'drop'>;
  replicas: Replicas;
  clock: Clock;
  log: Log;
  /** Called for an operation that stays stored. */
  finishLater(id: string): void;
  /** Called when the machine of this generation has ended by itself. */
  exited(id: string, runGeneration: number, reason: string): Promise<void>;
}

/** The sandbox after an operation; its last row when `deleted` is true. */
export interface Settled {
  sandbox: Sandbox;
  deleted: boolean;
}

/** Loss of a machine: it has ended, or its node does not answer. */
export type Loss = Extract<Outcome, { type: 'exited' | 'unreachable' }>;

export class Operations {
  readonly #deps: OperationsDependencies;
  readonly #work: MachineWork;
  #isLeft = false;

  constructor(dependencies: OperationsDependencies) {
    this.#deps = dependencies;
    this.#work = new MachineWork({
      ...dependencies,
      saveArchive: (sandbox, archive) => this.advance(sandbox, { archive }),
    });
  }

  /** From now on what fails stays stored: the stop of this process breaks it off, and the next one goes on with it. */
  leave(): void {
    this.#isLeft = true;
  }

  /** Updates by compare-and-set on the generation at the start of this work; null when it has moved on. */
  async tryAdvance(
    sandbox: Sandbox,
    patch: SandboxPatch,
    allowance?: Allowance,
    unusedSince?: number,
  ): Promise<Sandbox | null> {
    const { store, clock } = this.#deps;
    const dated = { updatedAt: clock.now(), ...patch };
    return store.update(sandbox.id, sandbox.generation, dated, allowance, unusedSince);
  }

  /** Like `tryAdvance`, and rejects with `invalid_state` when the generation has moved on. */
  async advance(sandbox: Sandbox, patch: SandboxPatch, allowance?: Allowance): Promise<Sandbox> {
    const updated = await this.tryAdvance(sandbox, patch, allowance);
    if (updated) return updated;
    throw overtaken();
  }

  /** Performs the stored operation and settles it. Rejects with the error of work that failed. */
  carryOut(sandbox: Sandbox, signal: AbortSignal): Promise<Settled> {
    const { id, operation } = sandbox;
    const attributes = { 'sandhaven.sandbox_id': id };
    return inOwnSpan(`sandbox ${operation}`, attributes, () => this.#carryOut(sandbox, signal));
  }

  async #carryOut(sandbox: Sandbox, signal: AbortSignal): Promise<Settled> {
    const spare = spareLeft(sandbox);
    if (spare !== null) return { sandbox: await this.#dropLast(sandbox, spare), deleted: false };
    let row = sandbox;
    try {
      if (row.rollbackTo !== null) row = await this.#putBack(row, row.rollbackTo, signal);
      await this.#work.perform(row, signal);
    } catch (error) {
      if (this.#isLeft) throw error;
      // The others go on from here: what this one did now might undo it.
      if (leaseIsOver(this.#deps.replicas)) this.#deps.finishLater(row.id);
      else await this.#settleFailure(row, error, signal);
      throw error;
    }
    return this.#settle(row, { type: 'succeeded' });
  }

  /** Returns the row with the start that is left, stored before it begins: a disk put back twice would lose what was written between. */
  async #putBack(sandbox: Sandbox, captureId: string, signal: AbortSignal): Promise<Sandbox> {
    await this.#work.putBack(sandbox, captureId, signal);
    const stopped = await this.advance(sandbox, afterPutBack(sandbox, this.#deps.clock.now()));
    await tryToDropSpare(this.#deps, sandbox.id, sandbox.archive === null ? null : 'archive');
    return stopped;
  }

  /** Starts the machine of a new row. */
  bringUp(sandbox: Sandbox, signal: AbortSignal, from?: string): Promise<void> {
    return this.#work.bringUp(sandbox, signal, from);
  }

  /** Performs the rest of an operation that an earlier process, or an earlier attempt, has stored. */
  async finish(sandbox: Sandbox, signal: AbortSignal): Promise<Settled> {
    const { id, operation, state, runGeneration } = sandbox;
    if (operation === null) return { sandbox, deleted: false };
    if (operation === 'resizing' && state === 'started') {
      const seen = await this.#deps.runtime.inspect(id);
      const lost = seen?.runningGeneration !== runGeneration;
      const reason = 'Its machine ended while it was being resized.';
      if (lost) return this.lose(sandbox, { type: 'exited', reason });
    }
    return this.carryOut(sandbox, signal);
  }

  /** Settles a machine that ended by itself, on a node that was lost or not. */
  async lose(sandbox: Sandbox, outcome: Loss): Promise<Settled> {
    const { id } = sandbox;
    this.#deps.watches.end(id);
    this.#deps.log.warn('machine ended', { sandbox: id, ...outcome });
    if (deletedByStop(sandbox) || sandbox.ownerId === null) return this.drop(sandbox);
    await this.#deps.runtime.stop(id, 0, sandbox.generation);
    return this.#settle(sandbox, outcome);
  }

  /**
   * Settles a machine whose node does not answer. It is asked to end, which it does when the node is back; by its
   * generation the request leaves a later one alone.
   */
  async abandon(sandbox: Sandbox): Promise<void> {
    const { runtime, watches, log } = this.#deps;
    const { id, generation } = sandbox;
    log.warn('the node of a sandbox does not answer', { sandbox: id });
    if (sandbox.ownerId === null) {
      await this.drop(sandbox);
      return;
    }
    await this.#settle(sandbox, { type: 'unreachable' });
    // Not before: the node of a row that cannot be stored may come back without the machine.
    watches.end(id);
    void runtime.stop(id, 0, generation).catch((error: unknown) => {
      log.info('the machine on a lost node is ended when the node is back', { sandbox: id, error });
    });
  }

  /** Deletes the sandbox. */
  async drop(sandbox: Sandbox, signal = new AbortController().signal): Promise<Settled> {
    const patch = {
      operation: 'deleting',
      resizeTarget: null,
      rollbackTo: null,
      generation: sandbox.generation + 1,
    } as const;
    return this.carryOut(await this.advance(sandbox, patch), signal);
  }

  /** Reports the end of the row's machine to `exited`. */
  watch({ id, runGeneration }: Pick<Sandbox, 'id' | 'runGeneration'>): void {
    if (runGeneration === null) return;
    this.#deps.watches.begin(id, () =>
      this.#deps.exited(id, runGeneration, 'The init process of the sandbox ended.'),
    );
  }

  /** Settles the stored operation, or leaves it to be finished later. */
  async #settle(sandbox: Sandbox, outcome: Outcome): Promise<Settled> {
    const settlement = settle(sandbox, outcome);
    if (settlement.kind === 'unsettled') {
      this.#deps.finishLater(sandbox.id);
      return { sandbox, deleted: false };
    }
    try {
      return await this.#store(sandbox, settlement, outcome);
    } catch (error) {
      this.#deps.finishLater(sandbox.id);
      throw error;
    }
  }

  async #store(
    sandbox: Sandbox,
    settlement: Exclude<Settlement, { kind: 'unsettled' }>,
    { type }: Outcome,
  ): Promise<Settled> {
    const { store, activity, clock } = this.#deps;
    if (settlement.kind === 'deleted') {
      await store.remove(sandbox.id, sandbox.generation);
      activity.forget(sandbox.id);
      return {
        sandbox: { ...sandbox, operation: null, state: 'stopped', runGeneration: null },
        deleted: true,
      };
    }
    const { state, stateReason, resources } = settlement;
    // Two replicas may see one machine end, and judge differently: the first counts.
    const isLoss = type === 'exited' || type === 'unreachable';
    const patch: SandboxPatch = {
      ...(isLoss ? { generation: sandbox.generation + 1 } : {}),
      operation: null,
      resizeTarget: null,
      rollbackTo: null,
      state,
      stateReason,
      resources,
      ...consequences(sandbox, state, clock.now()),
    };
    const settled = await this.#withoutSpare(sandbox, patch);
    const fresh = settled.runGeneration === settled.generation;
    if (state === 'started' && (fresh || !this.#deps.watches.has(settled.id))) this.watch(settled);
    return { sandbox: settled, deleted: false };
  }

  /** Settles the row, and keeps the one copy of the disk that it names. */
  async #withoutSpare(sandbox: Sandbox, patch: SandboxPatch): Promise<Sandbox> {
    const spare = spareAfter(sandbox, patch);
    if (this.#deps.replicas.shared && spare !== null) {
      const { operation } = sandbox;
      return this.#dropLast(await this.advance(sandbox, { ...patch, operation }), spare);
    }
    const settled = await this.advance(sandbox, patch);
    await tryToDropSpare(this.#deps, sandbox.id, spare);
    return settled;
  }

  /** Drops the spare copy, then ends the operation; tried again later when it fails. */
  async #dropLast(sandbox: Sandbox, spare: Spare): Promise<Sandbox> {
    const { runtime, log } = this.#deps;
    try {
      await dropSpare(runtime, sandbox.id, spare);
      return await this.advance(sandbox, { operation: null });
    } catch (error) {
      log.warn('a spare copy of a disk could not be dropped', { sandbox: sandbox.id, error });
      this.#deps.finishLater(sandbox.id);
      return sandbox;
    }
  }

  async #settleFailure(sandbox: Sandbox, error: unknown, signal: AbortSignal): Promise<void> {
    const { operation } = sandbox;
    const declined = isDeclined(sandbox, error);
    // A delete breaks off what is under way: no fault of anybody.
    if (signal.aborted) this.#deps.log.info('operation broken off', { sandbox: sandbox.id, operation });
    else this.#deps.log.error('operation failed', { sandbox: sandbox.id, operation, error });
    // Like a delete, it may be half done, and what is half deleted must not start again.
    if (operation === 'stopping' && deletedByStop(sandbox)) return this.#deps.finishLater(sandbox.id);
    // All or nothing: a machine between two sizes is no settled one.
    if (operation === 'resizing' && !(await this.#undoneResize(sandbox)))
      return this.#deps.finishLater(sandbox.id);
    if (operation === 'starting' || operation === 'restoring') {
      await this.#deps.runtime.stop(sandbox.id, 0, sandbox.generation).catch((cause: unknown) => {
        this.#deps.log.error('clean-up after a failed start failed', { sandbox: sandbox.id, error: cause });
      });
    }
    await this.#settle(sandbox, declined ? { type: 'declined' } : failureOf(operation, error));
  }

  async #undoneResize(sandbox: Sandbox): Promise<boolean> {
    try {
      await this.#work.undoResize(sandbox);
      return true;
    } catch (error) {
      this.#deps.log.error('a failed resize could not be undone', { sandbox: sandbox.id, error });
      return false;
    }
  }
}
