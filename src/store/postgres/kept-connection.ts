/**
 * A connection that is opened again whenever it breaks off. It holds what belongs to a session (a lock, the news), and
 * a query at every beat notices a server that is gone without a word.
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

export interface KeptConnectionOptions {
  address: StoreAddress;
  beatMs: number;
  /** Prepares a new connection; false: it is closed, and another one tried later. */
  take(connection: pg.Client): Promise<boolean>;
  beat(connection: pg.Client): Promise<void>;
  hear(channel: string, payload: string): void;
  /** Called once it is prepared, and once it is lost. */
  taken(): void;
  lost(): void;
  log?: Pick<Log, 'warn'> | undefined;
}

export class KeptConnection {
  readonly #options: KeptConnectionOptions;
  #connection: pg.Client | null = null;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: KeptConnectionOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#connection !== null;
  }

  /** Returns false when `take` did. Rejects when the server cannot be reached. */
  async open(): Promise<boolean> {
    const { address, take, hear, taken } = this.#options;
    const connection = new pg.Client(connectionSettings(address));
    connection.on('error', () => {});
    connection.on('notification', ({ channel, payload = '' }) => hear(channel, payload));
    await connection.connect();
    try {
      if (this.#closed || !(await take(connection))) {
        await connection.end();
        return false;
      }
    } catch (error) {
      await connection.end().catch(() => {});
      throw error;
    }
    // Closed while it was being prepared: nobody would end it.
    if (this.#closed) {
      await connection.end();
      return false;
    }
    connection.once('end', () => this.#lose(connection));
    this.#connection = connection;
    taken();
    this.#beatLater(connection);
    return true;
  }

  /** @param farewell Queries before the end, such as one that gives something back. */
  async close(farewell?: (connection: pg.Client) => Promise<unknown>): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    const connection = this.#connection;
    this.#connection = null;
    if (!connection) return;
    await farewell?.(connection).catch(() => {});
    await connection.end();
  }

  #beatLater(connection: pg.Client): void {
    this.#timer = setTimeout(() => {
      this.#options.beat(connection).then(
        () => this.#connection === connection && this.#beatLater(connection),
        () => {
          this.#lose(connection);
          return connection.end().catch(() => {});
        },
      );
    }, this.#options.beatMs);
  }

  #lose(connection: pg.Client): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    this.#options.lost();
    this.#options.log?.warn('the service has lost the connection to its database');
    this.#openAgain(0);
  }

  #openAgain(afterMs: number): void {
    if (this.#closed) return;
    if (this.#timer) clearTimeout(this.#timer);
    const later = () => this.#openAgain(limits.postgres.reconnectMs);
    this.#timer = setTimeout(() => {
      this.open().then((opened) => opened || later(), later);
    }, afterMs);
  }
}

/**
 * Keeps a database to one service: an advisory lock on a connection of its own, which PostgreSQL releases when that
 * breaks off. While the lock is lost, writes are refused; it is taken again as soon as nobody else has it. The same
 * connection hears the news of written rows.
 */
interface OccupancyOptions {
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
