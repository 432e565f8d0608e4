/** One run of work for several concurrent callers. It continues until the last of them has cancelled. */
import { abortRace } from './deadline.ts';

export interface FlightOptions<Progress> {
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

interface Flight<T, Progress> {
  result: Promise<T>;
  listeners: Set<(progress: Progress) => void>;
  waiting: number;
  controller: AbortController;
}

export class SingleFlight<T, Progress> {
  readonly #flights = new Map<string, Flight<T, Progress>>();
  readonly #canceled: () => Error;

  /** @param canceled Error for a caller that cancels, and abort reason of work whose callers have all cancelled. */
  constructor(canceled: () => Error) {
    this.#canceled = canceled;
  }

  /** Joins the run of this key, or begins it. */
  async run(
    key: string,
    { signal, onProgress }: FlightOptions<Progress>,
    work: (options: Required<FlightOptions<Progress>>) => Promise<T>,
  ): Promise<T> {
    if (signal?.aborted) throw this.#canceled();
    const flight = this.#flights.get(key) ?? this.#begin(key, work);
    flight.waiting++;
    if (onProgress) flight.listeners.add(onProgress);
    try {
      return await this.#unlessAborted(flight.result, signal);
    } finally {
      flight.waiting--;
      if (onProgress) flight.listeners.delete(onProgress);
      if (flight.waiting === 0) this.#end(key, flight);
    }
  }

  #begin(key: string, work: (options: Required<FlightOptions<Progress>>) => Promise<T>): Flight<T, Progress> {
    const controller = new AbortController();
    const listeners = new Set<(progress: Progress) => void>();
    const onProgress = (progress: Progress) => {
      for (const listener of listeners) listener(progress);
    };
    // Deferred, so that its first caller listens before it begins.
    const result = Promise.resolve().then(() => work({ signal: controller.signal, onProgress }));
    const flight = { result, listeners, waiting: 0, controller };
    this.#flights.set(key, flight);
    // Abandoned work may fail with no caller left to handle it.
    result.catch(() => {}).finally(() => this.#forget(key, flight));
    return flight;
  }

  async #unlessAborted(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    if (!signal) return result;
    try {
      return await abortRace(result, signal);
    } catch (error) {
      throw error === signal.reason ? this.#canceled() : error;
    }
  }

  /** Ends an abandoned run: a later caller begins anew instead of joining it. */
  #end(key: string, flight: Flight<T, Progress>): void {
    this.#forget(key, flight);
    flight.controller.abort(this.#canceled());
  }

  #forget(key: string, flight: Flight<T, Progress>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
