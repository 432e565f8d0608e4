/**
 * Demand of a stream's reader: the intake is held while the reader wants no more, so that the stream buffers nothing
 * for an absent reader. Buffered bytes would arrive in one piece at the end of a pause, outside of every share, and
 * each byte may cost the reader much.
 */
import type { Readable } from 'node:stream';
import type { PacedIntake } from './paced-intake.ts';

export class Demand {
  readonly #stream: Readable;
  #intake: PacedIntake | null = null;
  #paused = false;
  #waking = false;

  constructor(stream: Readable) {
    this.#stream = stream;
  }

  /** Sets the source of the stream's bytes. */
  of(intake: PacedIntake): void {
    this.#intake = intake;
  }

  /** Holds the intake: the stream has enough. */
  full(): void {
    this.#intake?.pause();
  }

  /** Holds the intake: the reader wants none. */
  pause(): void {
    this.#paused = true;
    this.full();
  }

  resume(): void {
    this.#paused = false;
    this.more();
  }

  /**
   * Resumes the intake on the stream's request. Deferred to a microtask: the stream may be in the midst of the work on
   * a slice, or not flowing yet.
   */
  more(): void {
    if (this.#waking || !this.#intake?.held) return;
    this.#waking = true;
    queueMicrotask(() => {
      this.#waking = false;
      if (!this.#paused || this.#stream.listenerCount('readable') > 0) this.#intake?.resume();
    });
  }
}
