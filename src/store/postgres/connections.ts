/**
 * Lends the connections of the pool, by turns of users: slow statements of one leave connections for the others. Closes
 * those that broke.
 */
import type pg from 'pg';
import { FairQueue } from '../../fairness/fair-queue.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { isUnanswered } from './errors.ts';

export type Connection = Pick<pg.ClientBase, 'query'>;

const { connections: total, connectionsPerShare: perOwner, waiting, waitMs } = limits.postgres;

/** Takes the statements that no user is known of. */
const OF_SERVICE = '';

/** Connections of one share. */
export interface Lender {
  /**
   * Rejects with `resource_exhausted` when too many works of the user wait, or this one too long; with `unavailable` when
   * they are the service's.
   */
  use<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  /** Lends the next connection that is free, for a question about a work that has had its turn. */
  aside<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
}

export class Connections {
  readonly #pool: pg.Pool;
  readonly #queue = new FairQueue({
    total,
    perOwner,
    waiting,
    waitMs,
    what: 'statements are already running',
  });

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** @param share A user; a part of the service; the rest of it. */
  of(share: string | undefined): Lender {
    return { use: (work) => this.#inTurn(share, work), aside: (work) => this.#lend(work) };
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #inTurn<T>(share: string | undefined, work: (connection: Connection) => Promise<T>): Promise<T> {
    const leave = await this.#queue.take(share ?? OF_SERVICE).catch((error: unknown) => {
      throw share === undefined ? busy(error) : error;
    });
    try {
      return await this.#lend(work);
    } finally {
      leave();
    }
  }

  async #lend<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#pool.connect();
    let broken: Error | undefined;
    // A query under way fails too; an error event that nobody hears would end the process.
    const onError = (error: Error) => {
      broken = error;
    };
    connection.on('error', onError);
    try {
      return await work(connection);
    } catch (error) {
      if (isUnanswered(error)) broken = error;
      throw error;
    } finally {
      connection.off('error', onError);
      if (connection.getTransactionStatus() !== 'I') broken ??= new Error('its transaction has not ended');
      connection.release(broken);
    }
  }
}

function busy(cause: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    'The database of the service is busy.',
    { hint: 'Try again in a moment.', retryable: true },
    cause,
  );
}
