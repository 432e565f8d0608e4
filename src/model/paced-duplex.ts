/**
 * A stream of both directions whose incoming bytes are taken apart within this thread's share for their source: whoever
 * reads it works on each slice while the slice's time is measured.
 *
 * So nothing is held here while nobody reads. It would come in one piece at the end of a pause, outside of every
 * share, and whoever reads it may have much to do with each byte.
 */
import { Duplex, type Readable } from 'node:stream';
import type { Source } from './loop-share.ts';
import { PacedIntake } from './paced-intake.ts';

export abstract class PacedDuplex extends Duplex {
  #intake: PacedIntake | null = null;
  #paused = false;
  #waking = false;

  /** A slice has come; `pass` hands on what of it is for who reads. Must not throw. */
  protected abstract arrived(slice: Buffer): void;
  /** Behind the last slice. */
  protected abstract ended(error: Error | null): void;

  protected takeFrom(stream: Readable, source: Source): void {
    this.#intake = new PacedIntake({
      ...{ stream, source },
      take: (slice) => this.arrived(slice),
      over: (error) => this.ended(error),
    });
  }

  protected takeNoMore(): void {
    this.#intake?.stop();
  }

  protected pass(bytes: Buffer): void {
    if (!this.push(bytes)) this.#intake?.pause();
  }

  override pause(): this {
    this.#paused = true;
    this.#intake?.pause();
    return super.pause();
  }

  override resume(): this {
    this.#paused = false;
    super.resume();
    this.#wake();
    return this;
  }

  override _read(): void {
    this.#wake();
  }

  /** Not at once: it may be asked in the midst of the work on a slice, or before the stream has begun to flow. */
  #wake(): void {
    if (this.#waking || !this.#intake) return;
    this.#waking = true;
    queueMicrotask(() => {
      this.#waking = false;
      if (!this.#paused || this.listenerCount('readable') > 0) this.#intake?.resume();
    });
  }
}
