/**
 * A connection that is opened again whenever it breaks off. It holds what belongs to a session (a lock, the news), and
 * a query at every beat notices a server that is gone without a word.
 */
import pg from 'pg';
import type { Log } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import type { StoreAddress } from '../../model/store-address.ts';
import { connectionSettings } from './pool.ts';

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
