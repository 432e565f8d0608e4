/** Working inside a sandbox: it must be started, the work counts as activity, and its end is told truly. */
import { SandhavenError } from '../model/errors.ts';
import { decide } from '../model/lifecycle.ts';
import { limits } from '../model/limits.ts';
import type { Sandbox } from '../model/sandbox.ts';
import type { User } from '../model/user.ts';
import type { Activity } from './activity.ts';
import type { SandboxStore } from './ports.ts';
import type { OperationQueue } from './queue.ts';
import { resolveSandbox } from './resolve.ts';

export class Uses {
  readonly #store: SandboxStore;
  readonly #queue: OperationQueue;
  readonly #activity: Activity;

  constructor(store: SandboxStore, queue: OperationQueue, activity: Activity) {
    this.#store = store;
    this.#queue = queue;
    this.#activity = activity;
  }

  /**
   * Runs `work` once the lifecycle operations before it have ended. Fails with `invalid_state` when the sandbox
   * is not started, or is stopped under the work.
   */
  async run<T>(
    caller: User,
    reference: string | undefined,
    work: (sandbox: Sandbox) => Promise<T>,
  ): Promise<T> {
    let sandbox = await resolveSandbox(this.#store, caller, reference);
    if (this.#queue.busy(sandbox.id)) {
      await this.#queue.idle(sandbox.id);
      sandbox = await resolveSandbox(this.#store, caller, sandbox.id);
    }
    const decision = decide(sandbox, { type: 'use' });
    if (decision.kind === 'refused') throw decision.error;
    if (this.#activity.uses(sandbox.id) >= limits.concurrentUses) throw tooManyUses(sandbox);
    const end = this.#activity.begin(sandbox.id);
    try {
      return await work(sandbox);
    } catch (error) {
      throw await this.#explain(sandbox, error);
    } finally {
      end();
    }
  }

  /** A connection that broke because the machine was stopped is no fault of the engine. */
  async #explain(sandbox: Sandbox, error: unknown): Promise<unknown> {
    if (!(error instanceof SandhavenError) || error.code !== 'unavailable') return error;
    await this.#queue.idle(sandbox.id).catch(() => {});
    const now = await this.#store.get(sandbox.id);
    if (now?.state === 'started' && now.runGeneration === sandbox.runGeneration) return error;
    return new SandhavenError(
      'invalid_state',
      now
        ? `Sandbox '${sandbox.name}' was stopped while it was being worked in.`
        : `Sandbox '${sandbox.name}' was deleted while it was being worked in.`,
      {
        parameter: 'sandbox',
        hint: now ? 'Call Sandbox.StartSandbox, then try again.' : 'Create another sandbox.',
      },
      error,
    );
  }
}

function tooManyUses(sandbox: Sandbox): SandhavenError {
  return new SandhavenError(
    'resource_exhausted',
    `${limits.concurrentUses} calls are already working in sandbox '${sandbox.name}'.`,
    { hint: 'Wait for some of them to end, then try again.', retryable: true },
  );
}
