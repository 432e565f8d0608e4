/** Lends connections of the pool, and closes those that broke. */
import type pg from 'pg';
import { isUnanswered } from './errors.ts';

export type Connection = Pick<pg.ClientBase, 'query'>;

export class Connections {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
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

  close(): Promise<void> {
    return this.#pool.end();
  }
}
