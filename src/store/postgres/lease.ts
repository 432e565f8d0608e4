/**
 * The lease of this process by its own clock. It stops work well before the others, by the database's clock, may take it
 * over: the time between is for requests under way.
 */
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

export class Lease {
  #controller = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  /** By the monotonic clock. The wall clock is looked at too: it goes on while a machine is suspended. */
  #until = { elapsed: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };

  constructor() {
    this.end();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isValid(): boolean {
    if (this.signal.aborted) return false;
    if (performance.now() < this.#until.elapsed && Date.now() < this.#until.wall) return true;
    this.end();
    return false;
  }

  /** Throws `unavailable` without a valid lease. */
  assert(): void {
    if (this.isValid) return;
    throw new SandhavenError('unavailable', 'This replica has lost touch with its database.', {
      hint: 'Try again in a moment: another replica answers, or this one once it is back.',
      retryable: true,
    });
  }

  /** @param asked Times of the two clocks before the renewal was asked for. */
  renew(asked: { elapsed: number; wall: number }): void {
    const { workMs } = limits.replicas;
    this.#until = { elapsed: asked.elapsed + workMs, wall: asked.wall + workMs };
    if (this.signal.aborted) this.#controller = new AbortController();
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.isValid, this.#until.elapsed - performance.now() + 1);
    this.#timer.unref();
  }

  end(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#controller.abort(new SandhavenError('unavailable', 'The lease of this replica is over.'));
  }
}

/** The present times of both clocks. */
export function clocks(): { elapsed: number; wall: number } {
  return { elapsed: performance.now(), wall: Date.now() };
}
