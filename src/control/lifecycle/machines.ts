/**
 * Performs operations on sandboxes: stores the operation, does the work, settles it. Only this file changes a machine,
 * or the state of a stored sandbox after its creation, for every requester: a caller, the scheduler, or the reconciler
 * that finishes the operations of an earlier process.
 */
import { SandhavenError } from '../../model/errors.ts';
import { type Command, decide, deletedByStop, type Outcome, settle } from '../../model/lifecycle.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { Quotas } from '../people/quotas.ts';
import type {
  AgentLink,
  Allowance,
  Clock,
  Images,
  Log,
  Runtime,
  SandboxPatch,
  SandboxStore,
} from '../ports/index.ts';
import type { Activity } from './activity.ts';
import { assertRoomToStart } from './capacity.ts';
import { consequences } from './consequences.ts';
import type { DiskPromises } from './disk-promises.ts';
import { MachineWork } from './machine-work.ts';
import type { OperationQueue } from './operation-queue.ts';
import type { Watches } from './watches.ts';

export interface MachinesDependencies {
  store: SandboxStore;
  runtime: Runtime;
  images: Images;
  agent: AgentLink;
  queue: OperationQueue;
  quotas: Pick<Quotas, 'allowance'>;
  disks: Pick<DiskPromises, 'assertRoomFor'>;
  activity: Activity;
  watches: Watches;
  clock: Clock;
  log: Log;
}

/** The sandbox after an operation; its last row when `deleted` is true. */
export interface Settled {
  sandbox: Sandbox;
  deleted: boolean;
}

export interface CommandOptions {
  /** Text for `state_reason`, for commands without a caller. */
  reason?: string;
  /**
   * Called in the command's turn; false leaves the sandbox unchanged. A command with it waits for its turn, even a
   * delete.
   */
  stillWanted?(sandbox: Sandbox): boolean;
}

export class Machines {
  readonly #d: MachinesDependencies;
  readonly #work: MachineWork;

  constructor(dependencies: MachinesDependencies) {
    this.#d = dependencies;
    this.#work = new MachineWork({
      ...dependencies,
      saveArchive: (sandbox, archive) => this.#advance(sandbox, { archive }),
    });
  }

  /** Decides and performs a command in the sandbox's turn. A refused command changes nothing. */
  command(
    id: string,
    command: Exclude<Command, { type: 'use' }>,
    options: CommandOptions = {},
  ): Promise<Settled> {
    const work = async (signal: AbortSignal): Promise<Settled> => {
      const sandbox = await this.#current(id);
      if (options.stillWanted?.(sandbox) === false) return { sandbox, deleted: false };
      const decision = decide(sandbox, command);
      if (decision.kind === 'refused') throw decision.error;
      if (decision.kind === 'unchanged') return { sandbox, deleted: false };
      const { operation, resizeTarget } = decision;
      const starts = operation === 'starting' || operation === 'restoring';
      if (starts) await assertRoomToStart(this.#d.runtime, sandbox.resources);
      const grows = resizeTarget !== null && resizeTarget.disk > sandbox.resources.disk;
      if (grows) await this.#d.disks.assertRoomFor(resizeTarget.disk, sandbox.resources.disk);
      const reason = options.reason === undefined ? {} : { stateReason: options.reason };
      const patch = { operation, resizeTarget, generation: sandbox.generation + 1, ...reason };
      const takesMore = starts || operation === 'resizing';
      const begun = await this.#advance(
        sandbox,
        patch,
        takesMore ? await this.#allowance(sandbox) : undefined,
      );
      return this.#carryOut(begun, signal);
    };
    return command.type === 'delete' && !options.stillWanted
      ? this.#d.queue.preempt(id, work)
      : this.#d.queue.run(id, work);
  }

  /** Changes settings in the sandbox's turn; leaves its machine alone. */
  change(id: string, patch: (sandbox: Sandbox) => SandboxPatch): Promise<Sandbox> {
    return this.#d.queue.run(id, async () => {
      const sandbox = await this.#current(id);
      return this.#advance(sandbox, patch(sandbox));
    });
  }

  /** Finishes an operation that an earlier process stored and did not settle. */
  finish(id: string): Promise<Settled> {
    return this.#d.queue.run(id, async (signal) => {
      const sandbox = await this.#current(id);
      if (sandbox.operation === null) return { sandbox, deleted: false };
      if (sandbox.operation === 'resizing' && sandbox.state === 'started') {
        const seen = await this.#d.runtime.inspect(id);
        const lost = seen?.runningGeneration !== sandbox.runGeneration;
        if (lost) return this.#lose(sandbox, 'Its machine ended while it was being resized.');
      }
      return this.#carryOut(sandbox, signal);
    });
  }

  /** Starts the machine of a row that is `creating`, and settles it. A failure leaves neither machine nor row. */
  create(sandbox: Sandbox): Promise<Sandbox> {
    return this.#d.queue.run(sandbox.id, async (signal) => {
      try {
        await this.#work.bringUp(sandbox, signal);
        const now = this.#d.clock.now();
        const created = await this.#advance(sandbox, {
          operation: null,
          state: 'started',
          runGeneration: sandbox.generation,
          startedAt: now,
          lastActivityAt: now,
        });
        this.#watch(created);
        return created;
      } catch (error) {
        await this.discard(sandbox);
        throw error;
      }
    });
  }

  /** Removes the machine, then the row. Only for rows that no caller has seen. */
  async discard(sandbox: Sandbox): Promise<void> {
    this.#d.watches.end(sandbox.id);
    await this.#d.runtime.destroy(sandbox.id);
    await this.#d.store.remove(sandbox.id, sandbox.generation);
  }

  /** Settles the unexpected end of the machine of this generation. */
  exited(id: string, runGeneration: number, reason: string): Promise<void> {
    return this.#d.queue.run(id, async () => {
      const sandbox = await this.#d.store.get(id);
      if (sandbox?.runGeneration === runGeneration && sandbox.operation === null) {
        await this.#lose(sandbox, reason);
      }
    });
  }

  /** Adopts a running machine. */
  async adopt(sandbox: Sandbox): Promise<void> {
    this.#d.runtime.assign(sandbox.id, sandbox.ownerId);
    this.#watch(sandbox);
    await this.#d.agent.hello(sandbox.id, sandbox.runGeneration ?? sandbox.generation);
  }

  /** Returns the reason why a started sandbox is paused; null when it runs. */
  pausedReason(id: string): string | null {
    return this.#d.runtime.pausedReason(id);
  }

  async #lose(sandbox: Sandbox, reason: string): Promise<Settled> {
    const { id, generation } = sandbox;
    this.#d.watches.end(id);
    this.#d.log.warn('machine ended', { sandbox: id, reason });
    if (deletedByStop(sandbox) || sandbox.ownerId === null) {
      const deleting = await this.#advance(sandbox, { operation: 'deleting', generation: generation + 1 });
      return this.#carryOut(deleting, new AbortController().signal);
    }
    await this.#d.runtime.stop(id, 0);
    return this.#settle(sandbox, { type: 'exited', reason });
  }

  async #carryOut(sandbox: Sandbox, signal: AbortSignal): Promise<Settled> {
    try {
      await this.#work.perform(sandbox, signal);
    } catch (error) {
      await this.#settleFailure(sandbox, error);
      throw error;
    }
    return this.#settle(sandbox, { type: 'succeeded' });
  }

  async #settle(sandbox: Sandbox, outcome: Outcome): Promise<Settled> {
    const { store, activity, clock } = this.#d;
    const settlement = settle(sandbox, outcome);
    if (settlement.kind === 'unsettled') return { sandbox, deleted: false };
    if (settlement.kind === 'deleted') {
      await store.remove(sandbox.id, sandbox.generation);
      activity.forget(sandbox.id);
      return {
        sandbox: { ...sandbox, operation: null, state: 'stopped', runGeneration: null },
        deleted: true,
      };
    }
    const { state, stateReason, resources } = settlement;
    const settled = await this.#advance(sandbox, {
      operation: null,
      resizeTarget: null,
      state,
      stateReason,
      resources,
      ...consequences(sandbox, state, clock.now()),
    });
    await this.#dropSpareCopy(sandbox, settled);
    const fresh = settled.runGeneration === settled.generation;
    if (state === 'started' && (fresh || !this.#d.watches.has(settled.id))) this.#watch(settled);
    return { sandbox: settled, deleted: false };
  }

  /** Keeps the one copy of the disk that the row names. The next start repairs a failure here. */
  async #dropSpareCopy(before: Sandbox, settled: Sandbox): Promise<void> {
    const { runtime, log } = this.#d;
    const { id } = settled;
    const hadArchive = before.archive !== null || before.operation === 'archiving';
    try {
      if (settled.state === 'archived') await runtime.dropDisk(id);
      else if (hadArchive && settled.archive === null) await runtime.dropArchive(id);
    } catch (error) {
      log.warn('a spare copy of a disk could not be dropped', { sandbox: id, error });
    }
  }

  async #settleFailure(sandbox: Sandbox, error: unknown): Promise<void> {
    const declined = error instanceof SandhavenError && error.code === 'resource_exhausted';
    this.#d.log.error('operation failed', { sandbox: sandbox.id, operation: sandbox.operation, error });
    if (sandbox.operation === 'starting' || sandbox.operation === 'restoring') {
      await this.#d.runtime.stop(sandbox.id, 0).catch((cause: unknown) => {
        this.#d.log.error('clean-up after a failed start failed', { sandbox: sandbox.id, error: cause });
      });
    }
    await this.#settle(
      sandbox,
      declined ? { type: 'declined' } : { type: 'failed', reason: reasonOf(error) },
    );
  }

  #watch(sandbox: Sandbox): void {
    const { id, runGeneration } = sandbox;
    if (runGeneration === null) return;
    this.#d.watches.begin(id, () => this.exited(id, runGeneration, 'The init process of the sandbox ended.'));
  }

  async #current(id: string): Promise<Sandbox> {
    const sandbox = await this.#d.store.get(id);
    if (sandbox) return sandbox;
    throw new SandhavenError('not_found', 'The sandbox was deleted.', {
      resource: 'sandbox',
      hint: 'Call Sandbox.ListSandboxes to see the ones there are.',
    });
  }

  async #allowance({ ownerId }: Sandbox): Promise<Allowance | undefined> {
    return ownerId === null ? undefined : this.#d.quotas.allowance(ownerId);
  }

  /** Updates by compare-and-set on the generation at the start of this work. */
  async #advance(sandbox: Sandbox, patch: SandboxPatch, allowance?: Allowance): Promise<Sandbox> {
    const { store, clock } = this.#d;
    const dated = { updatedAt: clock.now(), ...patch };
    const updated = await store.update(sandbox.id, sandbox.generation, dated, allowance);
    if (updated) return updated;
    throw new SandhavenError('invalid_state', 'Another operation on the sandbox came in between.', {
      parameter: 'sandbox',
      hint: 'Call Sandbox.GetSandbox, then try again.',
      retryable: true,
    });
  }
}

/** Returns the text for `state_reason`; private causes stay in the log. */
function reasonOf(error: unknown): string {
  return error instanceof SandhavenError
    ? error.message
    : 'The engine failed; the log of the service has the cause.';
}
