/**
 * Uses of a sandbox: each requires a started sandbox, or starts one whose owner wants that, counts as activity, and explains a failure
 * by a stop or a delete. A channel to the agent wakes one that sleeps.
 */
import { inSpan } from '../../concurrency/span.ts';
import { concerns, notFound, SandhavenError } from '../../model/errors.ts';
import { decide } from '../../model/lifecycle.ts';
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { startsByUse } from '../../model/sleep.ts';
import type { User } from '../../model/user.ts';
import type { CallerRights } from '../callers/caller-rights.ts';
import type { AsUser, SandboxStore } from '../ports/index.ts';
import type { Activity } from '../turns/activity.ts';
import type { OperationQueue } from '../turns/operation-queue.ts';
import type { OtherReplicas } from '../turns/other-replicas.ts';
import { resolveSandbox } from '../turns/resolve.ts';

export class SandboxUses {
  readonly #store: SandboxStore;
  readonly #queue: OperationQueue;
  readonly #activity: Activity;
  readonly #callerRights: Pick<CallerRights, 'whileEnabled'>;
  readonly #others: OtherReplicas;
  readonly #start: (id: string) => Promise<unknown>;
  readonly #calls = new UseCounts(limits.concurrentUses, 'calls are already working');
  readonly #connections = new UseCounts(limits.concurrentConnections, 'connections are already open');

  constructor(
    store: SandboxStore,
    queue: OperationQueue,
    activity: Activity,
    callerRights: Pick<CallerRights, 'whileEnabled'>,
    others: OtherReplicas,
    start: (id: string) => Promise<unknown>,
  ) {
    this.#store = store;
    this.#queue = queue;
    this.#activity = activity;
    this.#callerRights = callerRights;
    this.#others = others;
    this.#start = start;
  }

  /**
   * Runs `work` once the lifecycle operations before it have ended. Rejects with `invalid_state` when the sandbox is
   * not started, or is stopped during the work.
   */
  async run<T>(
    caller: User,
    reference: string | undefined,
    work: (sandbox: Sandbox) => Promise<T>,
  ): Promise<T> {
    const sandbox = await resolveSandbox(this.#store, caller, reference);
    const again = async () => {
      await this.#store.reread(sandbox.id);
      return resolveSandbox(this.#store, caller, sandbox.id);
    };
    return this.#use(this.#calls, sandbox, again, work);
  }

  /** Returns the sandbox as it is, without a use of it. */
  find(caller: User, reference: string | undefined): Promise<Sandbox> {
    return resolveSandbox(this.#store, caller, reference);
  }

  /**
   * Like `run`, for a connection through a gateway, which has itself checked the right to it. Connections have a bound
   * of their own, so that they leave room for calls. Rejects with `not_found` when the sandbox is gone, with
   * `permission_denied` when its owner is disabled.
   * @param end Called when the owner is disabled during the work.
   */
  async connected<T>(
    id: string,
    work: (sandbox: Sandbox) => Promise<T>,
    end: () => void = () => {},
  ): Promise<T> {
    const resolve = (sandbox: Sandbox | null) => {
      if (sandbox && sandbox.operation !== 'creating' && isOwned(sandbox)) return sandbox;
      throw notFound('sandbox', 'There is no such sandbox.', 'It was deleted; create another.');
    };
    const found = resolve(await this.#store.get(id));
    const stop = await this.#callerRights.whileEnabled(found.ownerId, end);
    try {
      return await this.#use(
        this.#connections,
        found,
        async () => resolve(await this.#store.reread(id)),
        work,
      );
    } finally {
      stop();
    }
  }

  async #use<T>(
    counts: UseCounts,
    found: Sandbox,
    again: () => Promise<Sandbox>,
    work: (sandbox: Sandbox) => Promise<T>,
  ): Promise<T> {
    const ready = await this.#ready(found, again);
    const leave = counts.enter(ready);
    const end = this.#activity.begin(ready.id);
    let sandbox = ready;
    try {
      if (await this.#activity.announce(ready)) sandbox = await this.#ready(await again(), again);
      return await work(sandbox);
    } catch (error) {
      throw await this.#explain(sandbox, error);
    } finally {
      end();
      leave();
    }
  }

  /** Returns the started sandbox once the operations before this use have ended. */
  async #ready(found: Sandbox, again: () => Promise<Sandbox>): Promise<Sandbox> {
    let sandbox = found;
    if (this.#queue.busy(sandbox.id)) {
      await inSpan('queue', { 'sandhaven.sandbox_id': sandbox.id }, () => this.#queue.idle(sandbox.id));
      sandbox = await again();
    }
    if (sandbox.holder !== null && (await this.#others.workOn(sandbox))) {
      await this.#others.done(sandbox, false);
      sandbox = await again();
    }
    if (startsByUse(sandbox)) {
      await this.#start(sandbox.id);
      sandbox = await again();
    }
    let decision = decide(sandbox, { type: 'use' });
    // Another replica may have started it a moment ago.
    if (decision.kind === 'refused' && this.#others.exist) {
      sandbox = await again();
      decision = decide(sandbox, { type: 'use' });
    }
    if (decision.kind === 'refused') throw decision.error;
    return sandbox;
  }

  /**
   * Replaces `unavailable` when a stop or a delete of the sandbox broke the connection: that is no fault of the engine.
   */
  async #explain(sandbox: Sandbox, error: unknown): Promise<unknown> {
    if (!(error instanceof SandhavenError) || error.code !== 'unavailable') return error;
    await this.#queue.idle(sandbox.id).catch(() => {});
    const now = await this.#store.reread(sandbox.id);
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

/** Returns the Linux user of a call: the call's own, else the sandbox's; undefined for root. A call's null is root too. */
export function userOf({ user }: Pick<Sandbox, 'user'>, call: AsUser = {}): string | undefined {
  return (call.user === undefined ? user : call.user) ?? undefined;
}

/** Returns the folder of a call: its own, else that of the image that the sandbox was built as, else the root of relative paths. */
export function folderOf({ imageConfig }: Pick<Sandbox, 'imageConfig'>, cwd: string | undefined): string {
  return cwd ?? imageConfig?.workdir ?? '.';
}

/** Runs `work` with bash, or with sh where the image has no bash. */
export async function withShell<T>(work: (shell: string) => Promise<T>): Promise<T> {
  for (const shell of ['bash', 'sh']) {
    try {
      return await work(shell);
    } catch (error) {
      if (!concerns(error, 'interpreter')) throw error;
    }
  }
  throw new SandhavenError('failed_precondition', "The sandbox's image has neither bash nor sh.", {
    hint: 'Create the sandbox from an image that has a shell.',
  });
}

function isOwned(sandbox: Sandbox): sandbox is Sandbox & { ownerId: string } {
  return sandbox.ownerId !== null;
}

/** Counts of open uses, by sandbox, each with a bound. */
class UseCounts {
  readonly #most: number;
  readonly #what: string;
  readonly #taken = new Map<string, number>();

  constructor(most: number, what: string) {
    this.#most = most;
    this.#what = what;
  }

  /** Throws `resource_exhausted` at the bound; the returned function is called once, at the end. */
  enter({ id, name }: Sandbox): () => void {
    const taken = this.#taken.get(id) ?? 0;
    if (taken >= this.#most) {
      throw new SandhavenError('resource_exhausted', `${taken} ${this.#what} in sandbox '${name}'.`, {
        hint: 'Wait for some of them to end, then try again.',
        retryable: true,
      });
    }
    this.#taken.set(id, taken + 1);
    return () => {
      const left = (this.#taken.get(id) ?? 1) - 1;
      if (left > 0) this.#taken.set(id, left);
      else this.#taken.delete(id);
    };
  }
}
