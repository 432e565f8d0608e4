/**
 * This process as one of the replicas of a database. Its row in `replicas`, renewed by the database's clock, is its
 * lease; whoever finds a lease over removes the row, and with it gives the replica up for good. The same connection
 * hears the news of rows and the messages of other replicas.
 */
import { hash } from 'node:crypto';
import type pg from 'pg';
import type { Log, Replicas } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { newReplicaId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { StoreAddress } from '../../model/store-address.ts';
import type { Caches } from './cache/caches.ts';
import { NEWS_CHANNEL, parseNews } from './cache/news.ts';
import { explained } from './errors.ts';
import { KeptConnection } from './kept-connection.ts';
import { clocks, Lease } from './lease.ts';
import { Echo, MESSAGE_CHANNEL, Messages } from './messages.ts';
import { migrate } from './schema.ts';
import { advisoryLock, DATABASE_NOW as NOW } from './sql.ts';

interface MembershipOptions {
  address: StoreAddress;
  pool: Pick<pg.Pool, 'query'>;
  /** Open while the news arrive. */
  caches: Caches;
  log?: Pick<Log, 'warn'> | undefined;
}

const { leaseMs, renewMs } = limits.replicas;

export class Membership implements Replicas {
  readonly shared = true;
  readonly #options: MembershipOptions;
  readonly #connection: KeptConnection;
  readonly #lease = new Lease();
  readonly #messages: Messages;
  readonly #echo: Echo;
  readonly #waiters = new Waiters();
  readonly #listeners: (() => void)[] = [];
  readonly #gapListeners: (() => void)[] = [];
  readonly #writtenListeners: ((sandboxId: string) => void)[] = [];
  #id = newReplicaId();
  #live: readonly string[] = [];
  readonly #givenUp = new GivenUp();
  /** Begin of the time without a gap in the renewals: only who has seen a whole lease go by gives others up. */
  #steadySince = Number.POSITIVE_INFINITY;

  private constructor(options: MembershipOptions) {
    this.#options = options;
    this.#messages = new Messages(options.pool, () => this.#id, options.log);
    this.#echo = new Echo(this.#messages, () => this.#id);
    this.#connection = new KeptConnection({
      address: options.address,
      beatMs: renewMs,
      take: (connection) => this.#enter(connection),
      beat: (connection) => this.#renew(connection),
      hear: (channel, payload) => this.#hear(channel, payload),
      taken: () => this.#taken(),
      lost: () => this.#lost(),
      log: options.log,
    });
  }

  /** Rejects with `failed_precondition` while a service that serves alone uses the database. */
  static async join(options: MembershipOptions): Promise<Membership> {
    const membership = new Membership(options);
    if (await membership.#connection.open()) return membership;
    throw new SandhavenError('failed_precondition', 'Another service uses this database, alone.', {
      hint: 'Stop that service first, or give this one a database of its own with --store.',
    });
  }

  get id(): string {
    return this.#id;
  }

  get count(): number {
    return Math.max(1, this.#live.length);
  }

  get lease(): AbortSignal {
    return this.#lease.signal;
  }

  assertLeased(): void {
    this.#lease.assert();
  }

  /** A replica that this one has not heard of may have come a moment ago, so the database decides. */
  async lives(id: string): Promise<boolean> {
    if (this.#live.includes(id)) return true;
    if (this.#givenUp.has(id)) return false;
    const asked = this.#options.pool.query('SELECT 1 FROM replicas WHERE id = $1', [id]);
    const { rows } = await asked.catch((error: unknown) => Promise.reject(explained(error)));
    if (rows.length > 0) return true;
    this.#givenUp.add(id);
    return false;
  }

  isMine(work: string): boolean {
    return this.#lease.isValid && ownerAmong(this.#live, work) === this.#id;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  changed(sandboxId: string, withinMs: number): Promise<void> {
    return this.#waiters.wait(sandboxId, withinMs);
  }

  onWritten(listener: (sandboxId: string) => void): void {
    this.#writtenListeners.push(listener);
  }

  heard(): Promise<void> {
    return this.#echo.heard(this.#live.filter((id) => id !== this.#id));
  }

  tell(topic: Parameters<Replicas['tell']>[0], text: string): void {
    this.#messages.send(topic, text);
  }

  onTold(topic: Parameters<Replicas['tell']>[0], listener: (text: string) => void): void {
    this.#messages.on(topic, listener);
  }

  onGap(listener: () => void): void {
    this.#gapListeners.push(listener);
  }

  /** Gives the lease back, so that nobody waits for its end. */
  async close(): Promise<void> {
    this.#lease.end();
    this.#options.caches.close();
    await this.#connection.close((connection) =>
      connection.query('DELETE FROM replicas WHERE id = $1', [this.#id]),
    );
    this.#waiters.wakeAll();
  }

  /** The shared lock keeps services out that would serve alone, and that would suffer from a migration. */
  async #enter(connection: pg.Client): Promise<boolean> {
    const { rows } = await connection.query(
      `SELECT pg_try_advisory_lock_shared(${advisoryLock('service')}) AS taken`,
    );
    if (rows[0].taken !== true) return false;
    await migrate(connection);
    await connection.query(`LISTEN ${NEWS_CHANNEL}; LISTEN ${MESSAGE_CHANNEL}`);
    await this.#renew(connection);
    return true;
  }

  async #renew(connection: pg.Client): Promise<void> {
    const asked = clocks();
    if (!this.#lease.isValid) this.#steadySince = asked.elapsed;
    const isSteady = asked.elapsed - this.#steadySince > leaseMs;
    const renewed = await connection.query(`UPDATE replicas SET renewed_at = ${NOW} WHERE id = $1`, [
      this.#id,
    ]);
    if (renewed.rowCount === 0) await this.#comeNew(connection);
    if (isSteady) await connection.query(`DELETE FROM replicas WHERE renewed_at < ${NOW} - ${leaseMs}`);
    const { rows } = await connection.query('SELECT id FROM replicas ORDER BY id');
    this.#lease.renew(asked);
    this.#see(rows.map(({ id }) => String(id)));
  }

  /** Comes, or comes back after the others have given it up: under a new id, since theirs is the old one's work. */
  async #comeNew(connection: pg.Client): Promise<void> {
    if (!this.#lease.signal.aborted) this.#lease.end();
    this.#id = newReplicaId();
    await connection.query(`INSERT INTO replicas (id, renewed_at) VALUES ($1, ${NOW})`, [this.#id]);
  }

  #see(live: string[]): void {
    const isSame = live.length === this.#live.length && live.every((id, at) => id === this.#live[at]);
    if (isSame) return;
    this.#live = live;
    this.#waiters.wakeAll();
    for (const listener of this.#listeners) listener();
  }

  #hear(channel: string, payload: string): void {
    if (channel === MESSAGE_CHANNEL) {
      this.#messages.hear(payload);
      return;
    }
    const news = parseNews(payload);
    this.#options.caches.hear(news);
    if (news === 'callers') return;
    this.#waiters.wake(news.sandbox);
    for (const listener of this.#writtenListeners) listener(news.sandbox);
  }

  /** The first time nobody listens yet. */
  #taken(): void {
    // A process that was suspended reads old news first.
    this.#options.caches.open(() => this.#lease.isValid);
    for (const listener of this.#gapListeners) listener();
  }

  #lost(): void {
    this.#options.caches.close();
    this.#waiters.wakeAll();
  }
}

/** Calls that wait for news of a row. */
class Waiters {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Resolves at the next news of the row, or after that time. */
  wait(row: string, withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const all = this.#waiting.get(row) ?? new Set();
      const done = () => {
        clearTimeout(timer);
        all.delete(done);
        if (all.size === 0 && this.#waiting.get(row) === all) this.#waiting.delete(row);
        resolve();
      };
      const timer = setTimeout(done, withinMs);
      this.#waiting.set(row, all.add(done));
    });
  }

  wake(row: string): void {
    for (const done of [...(this.#waiting.get(row) ?? [])]) done();
  }

  wakeAll(): void {
    for (const row of [...this.#waiting.keys()]) this.wake(row);
  }
}

/**
 * Replicas that were given up, the latest ones: the database is asked only once about each. Nobody comes back under
 * an old id, so what is in here stays true; one that was forgotten is asked for again.
 */
export class GivenUp {
  /** In the order in which they were last asked for. */
  readonly #ids = new Set<string>();

  get size(): number {
    return this.#ids.size;
  }

  /** Remembers a replica, in place of the one asked for longest ago when there are `limits.replicas.givenUpKept`. */
  add(id: string): void {
    this.#ids.delete(id);
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (oldest !== undefined && this.#ids.size > limits.replicas.givenUpKept) this.#ids.delete(oldest);
  }

  has(id: string): boolean {
    if (!this.#ids.has(id)) return false;
    this.add(id);
    return true;
  }
}

/**
 * Divides work among replicas by rendezvous hashing (Thaler and Ravishankar, "Using name-based mappings to increase
 * hit rates", 1998): whoever has the highest hash with the work's name does it. When one goes, only its work moves.
 * Returns null without replicas.
 */
export function ownerAmong(replicas: readonly string[], work: string): string | null {
  let owner: string | null = null;
  let highest = '';
  for (const replica of replicas) {
    const rank = hash('md5', `${replica} ${work}`, 'hex');
    if (rank <= highest) continue;
    owner = replica;
    highest = rank;
  }
  return owner;
}
