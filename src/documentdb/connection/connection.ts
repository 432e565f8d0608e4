/** Runs queries on one connection string: each within its time, with one retry after a transient failure. */

import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { MongoClient } from 'mongodb';
import { abortRace } from '../../concurrency/deadline.ts';
import { limits } from '../../model/limits.ts';
import { CurrentClient } from './client.ts';
import { type Asked, Faults, tookTooLong } from './faults.ts';

const bounds = limits.documents;

export interface AskOptions extends Asked {
  /** Time limit for the server's own work. */
  timeMs: number;
  signal?: AbortSignal | undefined;
}

export type Work<T> = (client: MongoClient, signal: AbortSignal) => Promise<T>;

export class Connection {
  readonly faults: Faults;
  readonly #current: CurrentClient;

  constructor(connectionString: string) {
    this.#current = new CurrentClient(connectionString);
    this.faults = new Faults(connectionString);
  }

  /**
   * Runs work whose result nobody has seen yet: after a broken connection, a lost server or a forgotten cursor it is
   * repeated once from its beginning.
   */
  async ask<T>(work: Work<T>, options: AskOptions): Promise<T> {
    const { isConnected } = this.#current;
    try {
      return await this.#attempt(work, options);
    } catch (error) {
      const isPassing = this.faults.isPassing(error) || (isConnected && isServerGone(error));
      if (options.signal?.aborted || !isPassing) throw this.#explained(error, options);
    }
    await pause(bounds.againAfterMs, undefined, { signal: options.signal }).catch(() => {});
    return await this.askOnce(work, options);
  }

  async askOnce<T>(work: Work<T>, options: AskOptions): Promise<T> {
    try {
      return await this.#attempt(work, options);
    } catch (error) {
      throw this.#explained(error, options);
    }
  }

  close(): Promise<void> {
    return this.#current.close();
  }

  /** Hides the connection string from inspection. */
  [inspect.custom](): string {
    return 'Connection {}';
  }

  /** Ends with the signal and at the deadline, even without the driver's cooperation. */
  async #attempt<T>(work: Work<T>, { timeMs, signal }: AskOptions): Promise<T> {
    if (signal?.aborted) throw canceled(signal);
    const end = new AbortController();
    const onAbort = () => end.abort(signal && canceled(signal));
    signal?.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => end.abort(tookTooLong()), timeMs + bounds.replyGraceMs);
    let client: MongoClient | undefined;
    try {
      client = await abortRace(this.#current.get(), end.signal);
      return await abortRace(work(client, end.signal), end.signal);
    } catch (error) {
      if (client && isServerGone(error)) this.#current.giveUp(client);
      throw end.signal.aborted ? end.signal.reason : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** The caller's own abort passes through unchanged. */
  #explained(error: unknown, options: AskOptions): unknown {
    return options.signal?.aborted ? error : this.faults.of(error, options);
  }
}

/** Server selection timed out. */
function isServerGone(error: unknown): boolean {
  return error instanceof Error && error.name === 'MongoServerSelectionError';
}

function canceled(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('The call was cancelled.');
}
