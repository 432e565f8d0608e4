/**
 * Requests for machines, each in its sandbox's turn: of a caller, of the scheduler, of the reconciler that finishes
 * the operations of an earlier process. Only this file and `operations.ts` change a machine, or the state of a stored
 * sandbox after its creation.
 */
import type { Unfinished } from '../../concurrency/unfinished.ts';
import { SandhavenError } from '../../model/errors.ts';
import { type Command, decide } from '../../model/lifecycle.ts';
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
import type { DiskPromises } from './disk-promises.ts';
import type { OperationQueue } from './operation-queue.ts';
import { Operations, type Settled } from './operations.ts';
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
  unfinished: Unfinished;
  clock: Clock;
  log: Log;
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
  readonly #operations: Operations;

  constructor(dependencies: MachinesDependencies) {
    this.#d = dependencies;
    this.#operations = new Operations({
      ...dependencies,
      finishLater: (id) => dependencies.unfinished.add(`finish ${id}`, () => this.finish(id)),
      exited: (...machine) => this.exited(...machine),
    });
  }

  /** Decides and performs a command in the sandbox's turn. A refused command changes nothing. */
  command(
    id: string,
    command: Exclude<Command, { type: 'use' }>,
    options: CommandOptions = {},
  ): Promise<Settled> {
    const work = async (signal: AbortSignal): Promise<Settled> => {
      const found = await this.#current(id);
      const sandbox = command.type === 'delete' ? found : await this.#finished(found, signal);
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
      const begun = await this.#operations.advance(
        sandbox,
        patch,
        takesMore ? await this.#allowance(sandbox) : undefined,
      );
      return this.#operations.carryOut(begun, signal);
    };
    return command.type === 'delete' && !options.stillWanted
      ? this.#d.queue.preempt(id, work)
      : this.#d.queue.run(id, work);
  }

  /** Changes settings in the sandbox's turn; leaves its machine alone. */
  change(id: string, patch: (sandbox: Sandbox) => SandboxPatch): Promise<Sandbox> {
    return this.#d.queue.run(id, async (signal) => {
      // Settings say what a stop does, so they do not change beneath one.
      const sandbox = await this.#finished(await this.#current(id), signal);
      return this.#operations.advance(sandbox, patch(sandbox));
    });
  }

  /**
   * Finishes an operation that was stored and not settled, by an earlier process or for want of room in the store;
   * repeated when it fails.
   */
  finish(id: string): Promise<void> {
    return this.#d.unfinished.attempt(`finish ${id}`, () =>
      this.#d.queue.run(id, async (signal) => {
        const sandbox = await this.#d.store.get(id);
        if (sandbox) await this.#operations.finish(sandbox, signal);
      }),
    );
  }

  /** Starts the machine of a row that is `creating`, and settles it. A failure leaves neither machine nor row. */
  create(sandbox: Sandbox): Promise<Sandbox> {
    return this.#d.queue.run(sandbox.id, async (signal) => {
      try {
        await this.#operations.bringUp(sandbox, signal);
        const now = this.#d.clock.now();
        const created = await this.#operations.advance(sandbox, {
          operation: null,
          state: 'started',
          runGeneration: sandbox.generation,
          startedAt: now,
          lastActivityAt: now,
        });
        this.#operations.watch(created);
        return created;
      } catch (error) {
        await this.discard(sandbox);
        throw error;
      }
    });
  }

  /**
   * Gives the running machine of a claimed row the row's sizes, and settles the row. A failure leaves neither machine
   * nor row.
   */
  fit(sandbox: Sandbox): Promise<Sandbox> {
    return this.#d.queue.run(sandbox.id, async () => {
      try {
        await this.#d.runtime.resizeLive(sandbox.id, sandbox.resources);
        return await this.#operations.advance(sandbox, { operation: null });
      } catch (error) {
        await this.discard(sandbox);
        throw error;
      }
    });
  }

  /** Removes the machine, then the row; repeated when it fails. Only for rows that no caller has seen. */
  async discard(sandbox: Sandbox): Promise<void> {
    const { id, generation } = sandbox;
    this.#d.watches.end(id);
    await this.#d.unfinished.attempt(`discard ${id}`, async () => {
      await this.#d.runtime.destroy(id);
      await this.#d.store.remove(id, generation);
    });
  }

  /** Settles the unexpected end of the machine of this generation; repeated when it fails. */
  exited(id: string, runGeneration: number, reason: string): Promise<void> {
    return this.#d.unfinished.attempt(`settle the end of ${id}`, () =>
      this.#d.queue.run(id, async () => {
        const sandbox = await this.#d.store.get(id);
        if (sandbox?.runGeneration === runGeneration && sandbox.operation === null) {
          await this.#operations.lose(sandbox, reason);
        }
      }),
    );
  }

  /** Ends the machine of a settled sandbox that has none; repeated when it fails. */
  end(id: string): Promise<void> {
    return this.#d.unfinished.attempt(`end ${id}`, () =>
      this.#d.queue.run(id, async () => {
        const sandbox = await this.#d.store.get(id);
        if (sandbox?.operation === null && sandbox.runGeneration === null) await this.#d.runtime.stop(id, 0);
      }),
    );
  }

  /** Deletes a pool sandbox that nobody has claimed; repeated when it fails. */
  retire(id: string): Promise<void> {
    return this.#d.unfinished.attempt(`retire ${id}`, () =>
      this.#d.queue.run(id, async (signal) => {
        const sandbox = await this.#d.store.get(id);
        if (sandbox?.ownerId === null && sandbox.operation === null)
          await this.#operations.drop(sandbox, signal);
      }),
    );
  }

  /** Adopts a running machine. */
  async adopt(sandbox: Sandbox): Promise<void> {
    this.#d.runtime.assign(sandbox.id, sandbox.ownerId);
    this.#operations.watch(sandbox);
    await this.#d.agent.hello(sandbox.id, sandbox.runGeneration ?? sandbox.generation);
  }

  /** Returns the reason why a started sandbox is paused; null when it runs. */
  pausedReason(id: string): string | null {
    return this.#d.runtime.pausedReason(id);
  }

  /** Returns the sandbox without an operation: one that could not be settled is finished before anything else. */
  async #finished(sandbox: Sandbox, signal: AbortSignal): Promise<Sandbox> {
    if (sandbox.operation === null || sandbox.operation === 'deleting') return sandbox;
    await this.#operations.finish(sandbox, signal);
    return this.#current(sandbox.id);
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
}
