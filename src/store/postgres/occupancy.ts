/**
 * Keeps a database to one service: an advisory lock on a connection of its own, which PostgreSQL releases when that
 * breaks off. While the lock is lost, writes are refused; it is taken again as soon as nobody else has it. The same
 * connection hears the news of written rows.
 */
import type { Log } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { StoreAddress } from '../../model/store-address.ts';
import type { Caches } from './cache/caches.ts';
import { NEWS_CHANNEL, parseNews } from './cache/news.ts';
import { KeptConnection } from './kept-connection.ts';
import { advisoryLock } from './sql.ts';

export interface OccupancyOptions {
  address: StoreAddress;
  /** Open while the news arrive. */
  caches?: Caches;
  log?: Pick<Log, 'warn'> | undefined;
}

export class Occupancy {
  readonly #connection: KeptConnection;
  readonly #caches: Caches | undefined;

  private constructor({ address, caches, log }: OccupancyOptions) {
    this.#caches = caches;
    this.#connection = new KeptConnection({
      address,
      beatMs: limits.postgres.heartbeatMs,
      async take(connection) {
        const { rows } = await connection.query(
          `SELECT pg_try_advisory_lock(${advisoryLock('service')}) AS taken`,
        );
        if (rows[0].taken !== true) return false;
        await connection.query(`LISTEN ${NEWS_CHANNEL}`);
        return true;
      },
      beat: async (connection) => void (await connection.query('SELECT 1')),
      hear: (_, payload) => caches?.hear(parseNews(payload)),
      taken: () => caches?.open(),
      lost: () => caches?.close(),
      log,
    });
  }

  /** Rejects with `failed_precondition` while another service uses the database. */
  static async take(options: OccupancyOptions): Promise<Occupancy> {
    const occupancy = new Occupancy(options);
    if (await occupancy.#connection.open()) return occupancy;
    throw new SandhavenError('failed_precondition', 'Another service uses this database.', {
      hint: 'Stop that service first, or give this one a database of its own with --store.',
    });
  }

  /** Throws `unavailable` while the lock is lost. */
  assertTaken(): void {
    if (this.#connection.isOpen) return;
    throw new SandhavenError('unavailable', 'The service has lost the connection to its database.', {
      hint: 'Try again in a moment.',
      retryable: true,
    });
  }

  async close(): Promise<void> {
    this.#caches?.close();
    await this.#connection.close();
  }
}
