/**
 * Runs statements on the PostgreSQL behind the gateway. Every statement of a client runs on a backend that logged
 * in as the client's own role, so PostgreSQL enforces the role's rights; the gateway checks only passwords.
 */
import { Pool, type PoolClient } from 'pg';
import { Fault, isConnectionLoss } from './faults.ts';
import { limits } from './limits.ts';

export interface DatabaseAddress {
  /** A folder with a socket, or a host. */
  host: string;
  port: number;
}

type Row = Record<string, unknown>;

export class Database {
  readonly #address: DatabaseAddress;
  readonly #pools = new Map<string, Pool>();
  readonly #control: Pool;

  constructor(address: DatabaseAddress) {
    this.#address = address;
    this.#control = this.#createPool('postgres', 4);
  }

  /** Runs one statement as the superuser. No client input goes into its text. */
  async control(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#control.query(text, values)).rows;
  }

  /** Runs one statement on a backend of its own. An abort of the signal cancels it. */
  async run(role: string, text: string, values: unknown[], signal: AbortSignal): Promise<Row[]> {
    const backend = await this.acquire(role);
    try {
      return await backend.query(text, values, signal);
    } finally {
      backend.release();
    }
  }

  /** The caller must release it. */
  async acquire(role: string): Promise<Backend> {
    const pool = this.#pools.get(role) ?? this.#createPool(role, limits.backends);
    this.#pools.set(role, pool);
    const client = await pool.connect().catch((error: unknown) => {
      throw isPoolTimeout(error)
        ? new Fault('NetworkInterfaceExceededTimeLimit', 'every backend of the database is busy')
        : error;
    });
    return new Backend(client, (processId) => this.control('SELECT pg_cancel_backend($1)', [processId]));
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#pools.values(), this.#control].map((pool) => pool.end()));
  }

  #createPool(user: string, max: number): Pool {
    const pool = new Pool({
      ...{ ...this.#address, user, max, database: 'postgres', application_name: 'documentdb-gateway' },
      connectionTimeoutMillis: limits.backendWaitMs,
      idleTimeoutMillis: limits.backendIdleMs,
    });
    // The pool has already dropped the failed connection.
    pool.on('error', () => {});
    return pool;
  }
}

export class Backend {
  readonly #client: PoolClient;
  readonly #cancel: (processId: number) => Promise<unknown>;
  /** A late cancellation would hit the next statement, so such a backend is not used again. */
  #isSpoiled = false;
  readonly #onError = (): void => {
    this.#isSpoiled = true;
  };

  constructor(client: PoolClient, cancel: (processId: number) => Promise<unknown>) {
    this.#client = client;
    this.#cancel = cancel;
    client.on('error', this.#onError);
  }

  async query(text: string, values: unknown[], signal: AbortSignal): Promise<Row[]> {
    signal.throwIfAborted();
    const cancel = (): void => {
      this.#isSpoiled = true;
      this.#cancel(this.#client.processID).catch(() => {});
    };
    signal.addEventListener('abort', cancel);
    try {
      return (await this.#client.query(text, values)).rows;
    } catch (error) {
      if (isConnectionLoss(error)) this.#isSpoiled = true;
      throw error;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  release({ discard = false } = {}): void {
    this.#client.off('error', this.#onError);
    this.#client.release(discard || this.#isSpoiled);
  }
}

/** The pool's own errors carry no code. */
function isPoolTimeout(error: unknown): boolean {
  return error instanceof Error && /timeout exceeded when trying to connect/.test(error.message);
}
