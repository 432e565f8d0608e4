/**
 * Takes bytes in slices, within this thread's share for their source. An expensive slice is followed by smaller ones.
 * The source is paused while bytes wait, and its end is reported after the last byte.
 */
import type { Readable } from 'node:stream';
import { limits } from '../model/limits.ts';
import { type LoopShare, loopShare, type Source } from './loop-share.ts';

const { first, min, max } = limits.loop.sliceBytes;

export interface IntakeOptions {
  /** Source of the bytes, which may finish sending a chunk after a pause. */
  gate: { pause(): unknown; resume(): unknown };
  /** Owner of the share of the loop: a sandbox, a remote, a network of clients. */
  source: Source;
  /** Must not throw. */
  take(slice: Buffer): void;
  /** Reports the end. Called once, after everything was taken. */
  over(error: Error | null): void;
  share?: LoopShare;
}

export class PacedIntake {
  readonly #options: IntakeOptions;
  readonly #share: LoopShare;
  #waiting: Buffer[] = [];
  #sliceBytes: number = first;
  /** true: the next slice is queued in the share. */
  #scheduled = false;
  /** true: the taker of the slices has paused. */
  #held = false;
  #ended: { error: Error | null } | null = null;
  #stopped = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#share = options.share ?? loopShare;
  }

  /** @returns true when more may come now. */
  arrive(chunk: Buffer): boolean {
    if (this.#stopped) return false;
    this.#waiting.push(chunk);
    this.#goOn();
    return this.#waiting.length === 0 && !this.#held;
  }

  /** Ends the input; only the first call counts. */
  end(error: Error | null): void {
    if (this.#ended) return;
    this.#ended = { error };
    this.#goOn();
  }

  /** Takes no slice until `resume`. */
  pause(): void {
    this.#held = true;
    this.#options.gate.pause();
  }

  get held(): boolean {
    return this.#held;
  }

  resume(): void {
    if (!this.#held || this.#stopped) return;
    this.#held = false;
    this.#goOn();
  }

  /** Stops for good: no further slice, and no end. */
  stop(): void {
    this.#stopped = true;
    this.#waiting = [];
  }

  #goOn(): void {
    if (this.#scheduled || this.#stopped) return;
    // An error is reported at once to a taker that has paused.
    const broken = this.#held && this.#ended?.error;
    if (this.#waiting.length > 0 && !broken) {
      if (this.#held) return;
      this.#scheduled = true;
      this.#share.run(this.#options.source, this.#work);
    } else if (this.#ended) {
      this.#stopped = true;
      this.#options.over(this.#ended.error);
    } else if (!this.#held) this.#options.gate.resume();
  }

  readonly #work = (): void => {
    this.#scheduled = false;
    if (this.#held || this.#stopped) return;
    const [chunk] = this.#waiting;
    if (!chunk) return;
    const slice = chunk.length > this.#sliceBytes ? chunk.subarray(0, this.#sliceBytes) : chunk;
    if (slice === chunk) this.#waiting.shift();
    else this.#waiting[0] = chunk.subarray(slice.length);
    const begun = performance.now();
    this.#options.take(slice);
    this.#adapt(performance.now() - begun, slice.length);
    this.#goOn();
  };

  /** Adapts the slice's size. Only whole slices can enlarge it: a short one predicts nothing. */
  #adapt(tookMs: number, bytes: number): void {
    if (tookMs > limits.loop.sliceMs) this.#sliceBytes = Math.max(min, this.#sliceBytes / 4);
    else if (tookMs < limits.loop.sliceMs / 4 && bytes === this.#sliceBytes) {
      this.#sliceBytes = Math.min(max, this.#sliceBytes * 2);
    }
  }
}

/** Takes the bytes of a stream until it ends, closes or fails. */
export function intakeFrom(stream: Readable, options: Omit<IntakeOptions, 'gate'>): PacedIntake {
  const intake = new PacedIntake({ ...options, gate: stream });
  const over = () => intake.end(null);
  stream.on('data', (chunk: Buffer) => {
    if (!intake.arrive(chunk)) stream.pause();
  });
  stream.on('end', over);
  stream.on('close', over);
  stream.on('error', (error) => intake.end(error));
  return intake;
}

/**
 * Demand of a stream's reader: the intake is held while the reader wants no more, so that the stream buffers nothing
 * for an absent reader. Buffered bytes would arrive in one piece at the end of a pause, outside of every share, and
 * each byte may cost the reader much.
 */
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
