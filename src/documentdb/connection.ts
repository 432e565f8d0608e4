/**
 * One pool of connections for one connection string. The driver is loaded and the pool is made when it is first
 * asked; it finds the server again by itself when that was away.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { MongoClient, MongoClientOptions } from 'mongodb';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { type Asked, Faults, tookTooLong } from './faults.ts';

const bounds = limits.documents;

export interface AskOptions extends Asked {
  /** What the server itself may work on it. */
  timeMs: number;
  signal?: AbortSignal | undefined;
}

export type Work<T> = (client: MongoClient, signal: AbortSignal) => Promise<T>;

export class Connection {
  readonly faults: Faults;
  readonly #connectionString: string;
  #client: Promise<MongoClient> | null = null;
  #ready: Promise<unknown> | null = null;
  #isClosed = false;

  constructor(connectionString: string) {
    this.#connectionString = connectionString;
    this.faults = new Faults(connectionString);
  }

  /**
   * Work whose result nobody has seen yet: where the connection breaks or the server has forgotten the cursor, it is
   * done once more from its beginning.
   */
  async ask<T>(work: Work<T>, options: AskOptions): Promise<T> {
    try {
      return await this.#attempt(work, options);
    } catch (error) {
      if (options.signal?.aborted || !this.faults.isPassing(error)) throw this.#told(error, options);
    }
    await pause(bounds.againAfterMs, undefined, { signal: options.signal }).catch(() => {});
    return await this.askOnce(work, options);
  }

  async askOnce<T>(work: Work<T>, options: AskOptions): Promise<T> {
    try {
      return await this.#attempt(work, options);
    } catch (error) {
      throw this.#told(error, options);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client = await this.#client?.catch(() => null);
    const closed = client?.close().catch(() => {});
    // A server that is silent is not waited for.
    await Promise.race([closed, pause(bounds.closeMs, undefined, { ref: false })]);
  }

  /** No look at this shows what it was made with. */
  [inspect.custom](): string {
    return 'Connection {}';
  }

  /** Ends with the signal and at the deadline, whether or not the driver notices. */
  async #attempt<T>(work: Work<T>, { timeMs, signal }: AskOptions): Promise<T> {
    if (signal?.aborted) throw canceled(signal);
    const end = new AbortController();
    const onAbort = () => end.abort(signal && canceled(signal));
    signal?.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => end.abort(tookTooLong()), timeMs + bounds.replyGraceMs);
    try {
      const client = await orAborted(this.#connect(), end.signal);
      return await orAborted(work(client, end.signal), end.signal);
    } catch (error) {
      throw end.signal.aborted ? end.signal.reason : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** What ended it from outside is passed on as it is. */
  #told(error: unknown, options: AskOptions): unknown {
    return options.signal?.aborted ? error : this.faults.of(error, options);
  }

  async #connect(): Promise<MongoClient> {
    if (this.#isClosed) throw new SandhavenError('unavailable', 'The service is closing.');
    this.#client ??= createClient(this.#connectionString);
    const making = this.#client;
    const client = await making;
    this.#ready ??= client.connect();
    try {
      await this.#ready;
      return client;
    } catch (error) {
      // A client that never was connected stays as it is; the next call gets another.
      if (this.#client === making) {
        this.#client = null;
        this.#ready = null;
      }
      client.close().catch(() => {});
      throw error;
    }
  }
}

async function createClient(connectionString: string): Promise<MongoClient> {
  const { MongoClient } = await import('mongodb');
  try {
    return new MongoClient(connectionString, settingsFor(connectionString));
  } catch {
    // The error quotes what it could not read.
    throw unreadable();
  }
}

/** What the string says itself holds; these say what it leaves open, and what is not the string's to say. */
function settingsFor(connectionString: string): MongoClientOptions {
  const open: MongoClientOptions = {
    appName: 'sandhaven',
    readPreference: 'primaryPreferred',
    maxPoolSize: bounds.connections,
    maxIdleTimeMS: bounds.idleConnectionMs,
    waitQueueTimeoutMS: bounds.queueTimeMs,
    connectTimeoutMS: bounds.connectTimeoutMs,
    serverSelectionTimeoutMS: bounds.serverSelectionTimeoutMs,
    socketTimeoutMS: bounds.exportTimeMs + bounds.replyGraceMs,
  };
  const said = new Set(
    [...connectionString.matchAll(/[?&]([a-z]+)=/gi)].map((match) => match[1]?.toLowerCase()),
  );
  return {
    ...Object.fromEntries(Object.entries(open).filter(([name]) => !said.has(name.toLowerCase()))),
    compressors: ['none'],
    monitorCommands: false,
    retryReads: true,
    retryWrites: false,
  };
}

function unreadable(): SandhavenError {
  return new SandhavenError('unavailable', 'The connection string of the document database cannot be read.', {
    hint:
      "The service's operator sets DOCUMENTDB_CONNECTION_STRING to mongodb://USER:PASSWORD@HOST/DATABASE " +
      '(or mongodb+srv://…), with special characters of user and password percent-encoded.',
    retryable: false,
  });
}

function canceled(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('The call was cancelled.');
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
