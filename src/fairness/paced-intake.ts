/**
 * Takes bytes in slices, within this thread's share for their source. A slice whose bytes cost much is followed by
 * smaller ones. Where the bytes come from is paused while some wait, and the end is told behind the last byte.
 */
import type { Readable } from 'node:stream';
import { limits } from '../model/limits.ts';
import { type LoopShare, loopShare, type Source } from './loop-share.ts';

const { first, min, max } = limits.loop.sliceBytes;

export interface IntakeOptions {
  /** Where the bytes come from, which may send on what it has begun when it is paused. */
  gate: { pause(): unknown; resume(): unknown };
  /** Whose share of the loop it is: a sandbox, a remote, a network of clients. */
  source: Source;
  /** Must not throw. */
  take(slice: Buffer): void;
  /** Nothing more comes. Called once, after everything was taken. */
  over(error: Error | null): void;
  share?: LoopShare;
}

export class PacedIntake {
  readonly #options: IntakeOptions;
  readonly #share: LoopShare;
  #waiting: Buffer[] = [];
  #sliceBytes: number = first;
  /** The next slice has its place in the row. */
  #scheduled = false;
  /** By who takes the slices. */
  #held = false;
  #ended: { error: Error | null } | null = null;
  #stopped = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#share = options.share ?? loopShare;
  }

  /** @returns Whether more may come now. */
  arrive(chunk: Buffer): boolean {
    if (this.#stopped) return false;
    this.#waiting.push(chunk);
    this.#goOn();
    return this.#waiting.length === 0 && !this.#held;
  }

  /** Nothing arrives any more; only what is said first counts. */
  end(error: Error | null): void {
    if (this.#ended) return;
    this.#ended = { error };
    this.#goOn();
  }

  /** No slice is taken until `resume`. */
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

  /** Nothing more is taken or told. */
  stop(): void {
    this.#stopped = true;
    this.#waiting = [];
  }

  #goOn(): void {
    if (this.#scheduled || this.#stopped) return;
    // What is broken is told at once to who takes nothing now.
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

  /** Judged by whole slices alone when it was quick: a short one says nothing of the next. */
  #adapt(tookMs: number, bytes: number): void {
    if (tookMs > limits.loop.sliceMs) this.#sliceBytes = Math.max(min, this.#sliceBytes / 4);
    else if (tookMs < limits.loop.sliceMs / 4 && bytes === this.#sliceBytes) {
      this.#sliceBytes = Math.min(max, this.#sliceBytes * 2);
    }
  }
}

/** Takes what a stream has, until it has ended, closed or broken. */
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
