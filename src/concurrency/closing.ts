/** The stop of a service: all parts end what they begin by themselves, then one bound holds for all work under way. */
import type { Duplex } from 'node:stream';
import { within } from './deadline.ts';

export interface Closing {
  /** Each stops its timer when it is called, and resolves when its own work has ended. */
  parts: readonly (() => Promise<void> | undefined)[];
  /** Resolves when no other work is in progress. Called once the parts are closed: their work begins some until then. */
  drained(): Promise<void>;
  /** Done in this order, whatever came before: what is not stored now is lost. */
  last: readonly (() => Promise<void> | void)[];
  /** Bound for parts and other work together. */
  timeoutMs: number;
  /** Throws the error of work that is still under way then; it goes on. */
  late(): never;
}

export async function closeInTime({ parts, drained, last, timeoutMs, late }: Closing): Promise<void> {
  const atLast = new AsyncDisposableStack();
  for (const step of last.toReversed()) atLast.defer(step);
  try {
    const closed = Promise.allSettled(parts.map((close) => close()));
    await within(timeoutMs, closed.then(drained), late);
    for (const result of await closed) if (result.status === 'rejected') throw result.reason;
  } finally {
    await atLast.disposeAsync();
  }
}

/** Work in progress, so that a stop can wait for what had begun before it while more begins and ends. */
export class InProgress<T> {
  /** Settled when the work ends. */
  readonly #open = new Map<T, PromiseWithResolvers<void>>();

  /** Returns what ends the work; calling it again does nothing. */
  begin(work: T): () => void {
    const end = Promise.withResolvers<void>();
    this.#open.set(work, end);
    return () => {
      this.#open.delete(work);
      end.resolve();
    };
  }

  /** Resolves once all work that is in progress now has ended, or the time is over: with what is still in progress then. */
  async endOfThese(timeoutMs: number): Promise<T[]> {
    const these = [...this.#open];
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([Promise.all(these.map(([, { promise }]) => promise)), late]);
    clearTimeout(timer);
    return these.flatMap(([work]) => (this.#open.has(work) ? [work] : []));
  }
}

/** Open streams, which a stop cuts: a call that waits for one of them, its caller long gone, would keep the process running. */
export class OpenStreams {
  readonly #open = new Set<Duplex>();
  #cut: Error | null = null;

  /** Throws after the cut, as nobody listens to the stream yet. */
  keep<T extends Duplex>(stream: T): T {
    if (this.#cut) {
      stream.destroy();
      throw this.#cut;
    }
    this.#open.add(stream);
    // Nobody may listen at the cut: then it concerns nobody, and must not end the process.
    stream.on('error', () => {}).once('close', () => this.#open.delete(stream));
    return stream;
  }

  /** Ends all with this error. */
  cut(error: Error): void {
    this.#cut = error;
    for (const stream of this.#open) stream.destroy(error);
  }
}
