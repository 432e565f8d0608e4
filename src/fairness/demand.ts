/**
 * Whether who reads a stream wants more of it: its intake is held meanwhile. So nothing is held in the stream while
 * nobody reads. It would come in one piece at the end of a pause, outside of every share, and whoever reads it may have
 * much to do with each byte.
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

  /** What the stream gets its bytes from. */
  of(intake: PacedIntake): void {
    this.#intake = intake;
  }

  /** The stream has enough. */
  full(): void {
    this.#intake?.pause();
  }

  /** Its reader wants none. */
  pause(): void {
    this.#paused = true;
    this.full();
  }

  resume(): void {
    this.#paused = false;
    this.more();
  }

  /** The stream asks. Not at once: it may be in the midst of the work on a slice, or before it has begun to flow. */
  more(): void {
    if (this.#waking || !this.#intake?.held) return;
    this.#waking = true;
    queueMicrotask(() => {
      this.#waking = false;
      if (!this.#paused || this.#stream.listenerCount('readable') > 0) this.#intake?.resume();
    });
  }
}
