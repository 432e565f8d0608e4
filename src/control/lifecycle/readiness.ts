/**
 * Readiness of the service to start machines, for `/readyz`: it has started one recently, for any purpose, or starts a
 * trial machine now. Trials run only on request, one at a time, because strangers may send requests.
 *
 * A trial machine has no row in the store: after a crash the next start destroys it as an orphan.
 */

import { within } from '../../concurrency/deadline.ts';
import type { Unfinished } from '../../concurrency/unfinished.ts';
import { SandhavenError } from '../../model/errors.ts';
import { newSandboxId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Resources } from '../../model/sandbox.ts';
import { BASE_IMAGE } from '../base/base-image.ts';
import type { AgentLink, Clock, Images, Log, Replicas, Runtime } from '../ports/index.ts';

export interface ReadinessDependencies {
  runtime: Runtime;
  images: Pick<Images, 'use'>;
  agent: Pick<AgentLink, 'hello'>;
  replicas: Pick<Replicas, 'shared' | 'assertLeased'>;
  unfinished: Pick<Unfinished, 'attempt'>;
  clock: Clock;
  log: Log;
}

/** Trial sizes. The disk has the size of ready disks; nothing is written to it. */
const trialResources: Resources = {
  cpu: limits.cpu.min,
  memory: limits.memoryGb.min,
  disk: limits.diskGb.default,
  gpu: 0,
};

export class Readiness {
  readonly #deps: ReadinessDependencies;
  readonly #closing = new AbortController();
  #madeAt: number | null = null;
  #failure: { at: number; error: SandhavenError } | null = null;
  #trial: Promise<void> | null = null;
  #ended = false;

  constructor(dependencies: ReadinessDependencies) {
    this.#deps = dependencies;
  }

  /** Wraps a runtime to observe its starts: a success counts for a while, a failure until a trial follows. */
  watch(runtime: Runtime): Runtime {
    return {
      ...runtime,
      start: async (...request) => {
        try {
          await runtime.start(...request);
          this.#madeAt = this.#deps.clock.now();
        } catch (error) {
          this.#doubt();
          throw error;
        }
      },
    };
  }

  /** Resolves to true when machines can be started; otherwise rejects with `unavailable` and the reason. */
  async check(): Promise<true> {
    const { clock, replicas } = this.#deps;
    if (this.#ended) throw new SandhavenError('unavailable', 'The service is being stopped.');
    replicas.assertLeased();
    if (this.#madeAt !== null && clock.now() - this.#madeAt < limits.readiness.freshMs) return true;
    if (this.#failure && clock.now() - this.#failure.at < limits.readiness.failureKeptMs)
      throw this.#failure.error;
    this.#trial ??= this.#try().finally(() => {
      this.#trial = null;
    });
    await within(limits.readiness.trialTimeoutMs, this.#trial, trialTooSlow);
    return true;
  }

  /** Answers from now on that the service takes no more calls. */
  end(): void {
    this.#ended = true;
  }

  /** Ends a running trial. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#trial?.catch(() => {});
  }

  /** Brings the next trial forward, but not to now: the cause of a failed start may lie in one sandbox alone. */
  #doubt(): void {
    const { freshMs, failureKeptMs } = limits.readiness;
    if (this.#madeAt !== null)
      this.#madeAt = Math.min(this.#madeAt, this.#deps.clock.now() - freshMs + failureKeptMs);
  }

  async #try(): Promise<void> {
    const { clock, log } = this.#deps;
    try {
      // Many replicas that try would use the cluster up: each asks whether it can be reached.
      if (this.#deps.replicas.shared) await this.#deps.runtime.capacity();
      else await this.#makeOne();
      this.#madeAt = clock.now();
      this.#failure = null;
    } catch (error) {
      if (!this.#closing.signal.aborted)
        log.error('no sandbox can be made: the service is not ready', { error });
      this.#failure = { at: clock.now(), error: notReady(error) };
      throw this.#failure.error;
    }
  }

  async #makeOne(): Promise<void> {
    const { runtime, images, agent, unfinished } = this.#deps;
    const signal = AbortSignal.any([
      this.#closing.signal,
      AbortSignal.timeout(limits.readiness.trialTimeoutMs),
    ]);
    const id = newSandboxId();
    await images.use({ reference: BASE_IMAGE }, async ({ digest }) => {
      try {
        await runtime.start({ id, imageDigest: digest, resources: trialResources }, 1, { signal });
        await agent.hello(id, 1);
      } catch (error) {
        // A full host is not broken: it still serves its sandboxes.
        if (!isFull(error)) throw error;
      } finally {
        await unfinished.attempt(`remove ${id}`, () => runtime.destroy(id));
      }
    });
  }
}

/**
 * Returns true for a full host. The disk guard's error, which all sandboxes get, is retryable and counts as a failure.
 */
function isFull(error: unknown): boolean {
  return (
    error instanceof SandhavenError && error.code === 'resource_exhausted' && error.fields.retryable !== true
  );
}

function trialTooSlow(): never {
  throw notReady(new SandhavenError('timeout', 'A trial sandbox was not ready in time.'));
}

function notReady(error: unknown): SandhavenError {
  const reason = error instanceof SandhavenError ? error.message : 'An internal error occurred.';
  return new SandhavenError(
    'unavailable',
    `No sandbox can be made: ${reason}`,
    { hint: 'Run `sandhaven doctor` on the host; the log of the service has the cause.' },
    error,
  );
}
