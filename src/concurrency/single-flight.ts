/** Work that several callers want at once is done once, and goes on until the last of them has lost interest. */
import type { CallOptions, OnProgress } from '../control/ports/index.ts';
import { SandhavenError } from '../model/errors.ts';

interface Flight<T> {
  result: Promise<T>;
  listeners: Set<OnProgress>;
  waiting: number;
  controller: AbortController;
}

export class SharedWork<T> {
  readonly #flights = new Map<string, Flight<T>>();

  async run(
    key: string,
    { signal, onProgress }: CallOptions,
    work: (options: Required<CallOptions>) => Promise<T>,
  ): Promise<T> {
    if (signal?.aborted) throw canceled();
    const flight = this.#flights.get(key) ?? this.#begin(key, work);
    flight.waiting++;
    if (onProgress) flight.listeners.add(onProgress);
    try {
      return await abortable(flight.result, signal);
    } finally {
      flight.waiting--;
      if (onProgress) flight.listeners.delete(onProgress);
      if (flight.waiting === 0) this.#end(key, flight);
    }
  }

  #begin(key: string, work: (options: Required<CallOptions>) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const listeners = new Set<OnProgress>();
    const onProgress: OnProgress = (progress) => {
      for (const listener of listeners) listener(progress);
    };
    // Begun a moment later, when its first caller listens.
    const result = Promise.resolve().then(() => work({ signal: controller.signal, onProgress }));
    const flight = { result, listeners, waiting: 0, controller };
    this.#flights.set(key, flight);
    // Nobody may be left to hear of the failure of work that was given up.
    result.catch(() => {}).finally(() => this.#forget(key, flight));
    return flight;
  }

  /** A caller who comes after this begins anew instead of joining work that is being given up. */
  #end(key: string, flight: Flight<T>): void {
    this.#forget(key, flight);
    flight.controller.abort(canceled());
  }

  #forget(key: string, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}

async function abortable<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return result;
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(canceled());
    signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([result, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

export function canceled(): SandhavenError {
  return new SandhavenError('unavailable', 'The operation was canceled.', { hint: 'Try again.' });
}
