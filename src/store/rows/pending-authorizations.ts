/**
 * Authorizations under way at the code-hosting provider, as rows. A state is found by its SHA-256, so the time of a wrong
 * one reveals nothing. Secrets are sealed for their row, and deleted with the decision.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import type {
  BrowserFlow,
  DeviceFlow,
  FlowProgress,
  PendingAuthorizationStore,
  Polls,
  TakenFlow,
} from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import type { AuthorizationOutcome } from '../../model/provider.ts';
import type { User } from '../../model/user.ts';
import type { Secrets } from '../files/secrets.ts';
import { type Row, type Sql, type SqlValues, statement, type Work } from '../sql/sql.ts';

type SealedColumn = 'state' | 'verifier' | 'device_code';

const outcomeSchema = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('authorized'),
    account: z.strictObject({ id: z.string(), login: z.string() }),
  }),
  z.strictObject({ status: z.literal('denied'), reason: z.string() }),
]);

/** Bounds of all users' rows are kept by one addition after another. */
const LOCK = 'pending authorizations';

export class PendingAuthorizationRows implements PendingAuthorizationStore {
  readonly #sql: Sql;
  readonly #secrets: Secrets;

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#secrets = secrets;
  }

  async addBrowser(flow: BrowserFlow, freshUntil: number): Promise<BrowserFlow> {
    const wanted = { user: flow.userId, provider: flow.provider, until: freshUntil };
    const known = await this.#sql.read(() => pendingStatements.fresh.get(wanted));
    if (known) return this.#browserOf(known, flow);
    const row = {
      ...valuesOf(flow),
      state_hash: hashOf(flow.state),
      state: this.#seal(flow.id, 'state', flow.state),
      verifier: this.#seal(flow.id, 'verifier', flow.verifier),
    };
    const first = await this.#sql.write(LOCK, function* () {
      const meanwhile = yield* pendingStatements.fresh.get(wanted);
      if (!meanwhile) yield* add(row);
      return meanwhile;
    });
    return first ? this.#browserOf(first, flow) : flow;
  }

  async addDevice(flow: DeviceFlow): Promise<void> {
    const row = {
      ...valuesOf(flow),
      interval: flow.intervalMs,
      next_poll: flow.nextPollAt,
      device_code: this.#seal(flow.id, 'device_code', flow.deviceCode),
    };
    await this.#sql.write(LOCK, () => add(row));
  }

  async progress(
    { id, userId, provider }: Pick<DeviceFlow, 'id' | 'userId' | 'provider'>,
    now: number,
  ): Promise<FlowProgress | null> {
    const values = { id, user: userId, provider, over: now - limits.provider.outcomeMs };
    const row = await this.#sql.read(() => pendingStatements.progress.get(values));
    if (!row) return null;
    const { interval_ms: intervalMs, next_poll_at: nextPollAt, outcome } = row;
    return {
      expiresAt: Number(row['expires_at']),
      polls: intervalMs === null ? null : { intervalMs: Number(intervalMs), nextPollAt: Number(nextPollAt) },
      outcome: outcome === null ? null : outcomeSchema.parse(JSON.parse(String(outcome))),
    };
  }

  async userOf(state: string, provider: string, now: number): Promise<User | null> {
    const values = { hash: hashOf(state), provider, now };
    const row = await this.#sql.read(() => pendingStatements.userOf.get(values));
    return row ? userIn(row) : null;
  }

  async take(state: string, provider: string, now: number): Promise<TakenFlow | null> {
    const values = { hash: hashOf(state), provider, now };
    const row = await this.#sql.writeOne(() => pendingStatements.take.get(values));
    if (!row) return null;
    const id = String(row['id']);
    return { id, user: userIn(row), verifier: this.#open(id, 'verifier', row) };
  }

  async claimPoll(id: string, seen: number, until: number): Promise<string | null> {
    const row = await this.#sql.writeOne(() => pendingStatements.claimPoll.get({ id, seen, until }));
    return row ? this.#open(id, 'device_code', row) : null;
  }

  async endPoll(id: string, claimed: number, next: Polls & { expiresAt: number }): Promise<void> {
    const { intervalMs: interval, nextPollAt: next_poll, expiresAt: expires } = next;
    await this.#sql.writeOne(() =>
      pendingStatements.endPoll.run({ id, claimed, interval, next_poll, expires }),
    );
  }

  async decide(id: string, outcome: AuthorizationOutcome): Promise<void> {
    await this.#sql.writeOne(() => pendingStatements.decide.run({ id, outcome: JSON.stringify(outcome) }));
  }

  #browserOf(row: Row, { userId, provider }: BrowserFlow): BrowserFlow {
    const id = String(row['id']);
    return {
      ...{ id, userId, provider },
      createdAt: Number(row['created_at']),
      expiresAt: Number(row['expires_at']),
      state: this.#open(id, 'state', row),
      verifier: this.#open(id, 'verifier', row),
    };
  }

  #seal(id: string, column: SealedColumn, secret: string): Uint8Array {
    return this.#secrets.seal(secret, placeOf(id, column));
  }

  #open(id: string, column: SealedColumn, row: Row): string {
    return this.#secrets.open(row[column], placeOf(id, column));
  }
}

type NewRow = SqlValues & { user: string; created: number };

/** After the oldest ones have made room. */
function* add(row: NewRow): Work<void> {
  const { outcomeMs, pendingPerUser, pending } = limits.provider;
  const over = row.created - outcomeMs;
  yield* pendingStatements.makeRoom.run({
    ...{ user: row.user, over, kept_of_user: pendingPerUser - 1, kept: pending - 1 },
  });
  yield* pendingStatements.insert.run(row);
}

function valuesOf({ id, userId, provider, createdAt, expiresAt }: BrowserFlow | DeviceFlow): NewRow {
  return {
    ...{ id, user: userId, provider, created: createdAt, expires: expiresAt },
    ...{ state_hash: null, interval: null, next_poll: null, state: null, verifier: null, device_code: null },
  };
}

function userIn(row: Row): User {
  return {
    id: String(row['user_id']),
    name: String(row['user_name']),
    email: String(row['user_email']),
  };
}

function hashOf(state: string): Uint8Array {
  return hash('sha256', state, 'buffer');
}

function placeOf(id: string, column: SealedColumn) {
  return { table: 'pending_authorizations', row: id, column };
}

const userColumns = `user_id,
  (SELECT name FROM users WHERE users.id = pending_authorizations.user_id) AS user_name,
  (SELECT email FROM users WHERE users.id = pending_authorizations.user_id) AS user_email`;
const byState = 'state_hash = :hash AND provider = :provider AND expires_at > :now';
const newestFirst = 'ORDER BY created_at DESC, rowid DESC LIMIT 1000';

/**
 * Statements on authorizations under way at the provider. Using a state up and taking a turn to poll are one UPDATE
 * each: of callers at once, one matches its WHERE.
 */
const pendingStatements = {
  fresh: statement(
    `SELECT id, created_at, expires_at, state, verifier FROM pending_authorizations
       WHERE user_id = :user AND provider = :provider AND state_hash IS NOT NULL AND expires_at >= :until
       ORDER BY created_at, rowid LIMIT 1`,
  ),
  makeRoom: statement(
    `DELETE FROM pending_authorizations WHERE id IN (
       SELECT id FROM pending_authorizations WHERE expires_at <= :over
       UNION ALL
       SELECT id FROM (SELECT id FROM pending_authorizations WHERE user_id = :user AND expires_at > :over
         ${newestFirst} OFFSET :kept_of_user) AS of_user
       UNION ALL
       SELECT id FROM (SELECT id FROM pending_authorizations WHERE expires_at > :over
         ${newestFirst} OFFSET :kept) AS of_all)`,
  ),
  insert: statement(
    `INSERT INTO pending_authorizations (id, user_id, provider, created_at, expires_at, state_hash,
         interval_ms, next_poll_at, state, verifier, device_code)
       VALUES (:id, :user, :provider, :created, :expires, :state_hash,
         :interval, :next_poll, :state, :verifier, :device_code)`,
  ),
  progress: statement(
    `SELECT expires_at, interval_ms, next_poll_at, outcome FROM pending_authorizations
       WHERE id = :id AND user_id = :user AND provider = :provider AND expires_at > :over`,
  ),
  userOf: statement(`SELECT ${userColumns} FROM pending_authorizations WHERE ${byState}`),
  take: statement(
    `UPDATE pending_authorizations SET state_hash = NULL, state = NULL WHERE ${byState}
       RETURNING id, verifier, ${userColumns}`,
  ),
  claimPoll: statement(
    `UPDATE pending_authorizations SET next_poll_at = :until
       WHERE id = :id AND next_poll_at = :seen AND outcome IS NULL RETURNING device_code`,
  ),
  endPoll: statement(
    `UPDATE pending_authorizations
       SET interval_ms = :interval, next_poll_at = :next_poll, expires_at = :expires
       WHERE id = :id AND next_poll_at = :claimed`,
  ),
  decide: statement(
    `UPDATE pending_authorizations
       SET outcome = :outcome, state_hash = NULL, state = NULL, verifier = NULL, device_code = NULL
       WHERE id = :id AND outcome IS NULL`,
  ),
};
