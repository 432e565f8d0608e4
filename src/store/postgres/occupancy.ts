/**
 * Keeps a database to one service: an advisory lock on a connection of its own, which PostgreSQL releases when that
 * breaks off. While the lock is lost, writes are refused; it is taken again as soon as nobody else has it.
 */
import pg from 'pg';
import type { Log } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { StoreAddress } from '../../model/store-address.ts';
import { connectionSettings } from './pool.ts';
import { advisoryLock } from './sql.ts';

export class Occupancy {
  readonly #address: StoreAddress;
  readonly #log: Pick<Log, 'warn'> | undefined;
  #connection: pg.Client | null = null;
  #retry: NodeJS.Timeout | null = null;
  #closed = false;

  private constructor(address: StoreAddress, log: Pick<Log, 'warn'> | undefined) {
    this.#address = address;
    this.#log = log;
  }

  /** Rejects with `failed_precondition` while another service uses the database. */
  static async take(address: StoreAddress, log?: Pick<Log, 'warn'>): Promise<Occupancy> {
    const occupancy = new Occupancy(address, log);
    if (!(await occupancy.#tryToTake())) {
      throw new SandhavenError('failed_precondition', 'Another service uses this database.', {
        hint: 'Stop that service first, or give this one a database of its own with --store.',
      });
    }
    return occupancy;
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
    if (this.#retry) clearTimeout(this.#retry);
    const connection = this.#connection;
    this.#connection = null;
    await connection?.end();
  }

  async #tryToTake(): Promise<boolean> {
    const connection = new pg.Client(connectionSettings(this.#address));
    connection.on('error', () => {});
    await connection.connect();
    const { rows } = await connection.query(
      `SELECT pg_try_advisory_lock(${advisoryLock('service')}) AS taken`,
    );
    if (rows[0].taken !== true || this.#closed) {
      await connection.end();
      return false;
    }
    this.#connection = connection;
    connection.once('end', () => {
      if (this.#closed) return;
      this.#connection = null;
      this.#log?.warn('the service has lost the connection to its database');
      this.#takeAgain(0);
    });
    return true;
  }

  #takeAgain(afterMs: number): void {
    if (this.#closed) return;
    const later = () => this.#takeAgain(limits.postgres.reconnectMs);
    this.#retry = setTimeout(() => {
      this.#tryToTake().then((taken) => taken || later(), later);
    }, afterMs);
  }
}
