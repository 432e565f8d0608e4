/**
 * Keeps a database to one service: an advisory lock on a connection of its own, which PostgreSQL releases when that
 * breaks off. While the lock is lost, writes are refused; it is taken again as soon as nobody else has it. The same
 * connection hears the news of written rows.
 */
import pg from 'pg';
import type { Log } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { StoreAddress } from '../../model/store-address.ts';
import type { Caches } from './cache/caches.ts';
import { NEWS_CHANNEL, parseNews } from './cache/news.ts';
import { connectionSettings } from './pool.ts';
import { advisoryLock } from './sql.ts';

export interface OccupancyOptions {
  address: StoreAddress;
  /** Open while the news arrive. */
  caches?: Caches;
  log?: Pick<Log, 'warn'> | undefined;
}

export class Occupancy {
  readonly #options: OccupancyOptions;
  #connection: pg.Client | null = null;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  private constructor(options: OccupancyOptions) {
    this.#options = options;
  }

  /** Rejects with `failed_precondition` while another service uses the database. */
  static async take(options: OccupancyOptions): Promise<Occupancy> {
    const occupancy = new Occupancy(options);
    if (await occupancy.#tryToTake()) return occupancy;
    throw new SandhavenError('failed_precondition', 'Another service uses this database.', {
      hint: 'Stop that service first, or give this one a database of its own with --store.',
    });
  }

  /** Throws `unavailable` while the lock is lost. */
  assertTaken(): void {
    if (this.#connection) return;
    throw new SandhavenError('unavailable', 'The service has lost the connection to its database.', {
      hint: 'Try again in a moment.',
      retryable: true,
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#options.caches?.close();
    const connection = this.#connection;
    this.#connection = null;
    await connection?.end();
  }

  async #tryToTake(): Promise<boolean> {
    const connection = new pg.Client(connectionSettings(this.#options.address));
    connection.on('error', () => {});
    await connection.connect();
    try {
      const { rows } = await connection.query(
        `SELECT pg_try_advisory_lock(${advisoryLock('service')}) AS taken`,
      );
      if (rows[0].taken !== true || this.#closed) {
        await connection.end();
        return false;
      }
      await connection.query(`LISTEN ${NEWS_CHANNEL}`);
    } catch (error) {
      await connection.end().catch(() => {});
      throw error;
    }
    this.#keep(connection);
    return true;
  }

  #keep(connection: pg.Client): void {
    const { caches } = this.#options;
    connection.on('notification', ({ payload }) => caches?.hear(parseNews(payload)));
    connection.once('end', () => this.#lose(connection));
    this.#connection = connection;
    caches?.open();
    this.#checkLater(connection);
  }

  /** A server that is gone without a word is noticed by a query that stays without an answer. */
  #checkLater(connection: pg.Client): void {
    this.#timer = setTimeout(() => {
      connection.query('SELECT 1').then(
        () => this.#connection === connection && this.#checkLater(connection),
        () => {
          this.#lose(connection);
          return connection.end().catch(() => {});
        },
      );
    }, limits.postgres.heartbeatMs);
  }

  #lose(connection: pg.Client): void {
    if (this.#connection !== connection) return;
    const { caches, log } = this.#options;
    this.#connection = null;
    caches?.close();
    log?.warn('the service has lost the connection to its database');
    this.#takeAgain(0);
  }

  #takeAgain(afterMs: number): void {
    if (this.#closed) return;
    if (this.#timer) clearTimeout(this.#timer);
    const later = () => this.#takeAgain(limits.postgres.reconnectMs);
    this.#timer = setTimeout(() => {
      this.#tryToTake().then((taken) => taken || later(), later);
    }, afterMs);
  }
}
