/** One run of work that several callers want at once. It goes on until the last of them has given up. */
import { abortRace } from './abort-race.ts';

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

  /** @param canceled Error for a caller that gives up, and reason of the signal of work that all have given up. */
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
    // Begins a moment later, when its first caller listens.
    const result = Promise.resolve().then(() => work({ signal: controller.signal, onProgress }));
    const flight = { result, listeners, waiting: 0, controller };
    this.#flights.set(key, flight);
    // Nobody may be left to hear of the failure of work that was given up.
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

  /** A caller that comes after this begins anew instead of joining work that is being given up. */
  #end(key: string, flight: Flight<T, Progress>): void {
    this.#forget(key, flight);
    flight.controller.abort(this.#canceled());
  }

  #forget(key: string, flight: Flight<T, Progress>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
