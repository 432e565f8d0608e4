/**
 * API keys as rows. Only the SHA-256 of a key is stored. Lookup is by its first eight bytes; the whole hash is then
 * compared in constant time, so the time of a wrong key reveals nothing of valid ones. The same eight bytes are the
 * key's id: a prefix of a hash does not lead back to a random key.
 */
import { hash as digest, timingSafeEqual } from 'node:crypto';
import type { KeyDetails, KeyStore, Page } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Scope } from '../../model/scopes.ts';
import type { ApiKey, Caller, Role } from '../../model/user.ts';
import { type Row, type Sql, statement, type Work } from '../sql/sql.ts';
import { assertFirstWayIn, enter } from './users.ts';

const SELECTOR_BYTES = 8;
const idPattern = new RegExp(`^key_([0-9a-f]{${2 * SELECTOR_BYTES}})$`);

export class KeyRows implements KeyStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async add(userId: string, apiKey: string, details: KeyDetails): Promise<ApiKey> {
    const hash = hashOf(apiKey);
    const selector = selectorOf(hash);
    const { insert, forget, find } = statements;
    const { name, createdAt, expiresAt, by } = details;
    const row = { name, created: createdAt, expires: expiresAt, by: by?.id ?? null };
    const scopes = details.scopes ? JSON.stringify(details.scopes) : null;
    return this.#sql.write('keys', function* () {
      const known = yield* matching(hash);
      if (known && known['user_id'] !== userId) throw anothers();
      if (!known) {
        if (by?.invites) yield* assertFirstWayIn(userId, createdAt);
        yield* insert.run({ hash, selector, user_id: userId, scopes, team: details.teamId ?? null, ...row });
        yield* forget.run({ user_id: userId, now: createdAt, kept: limits.keysKeptPerUser });
      }
      return keyOf((yield* find.get({ selector })) ?? {});
    });
  }

  async callerOf(apiKey: string, now: number): Promise<Caller | null> {
    const row = await this.#sql.read(() => matching(hashOf(apiKey)), 'callers');
    if (!row || row['revoked_at'] !== null || row['disabled_at'] !== null) return null;
    const { id, userId, expiresAt, scopes, teamId, createdBy } = keyOf(row);
    if (expiresAt !== null && expiresAt <= now) return null;
    if (row['entered_at'] === null) await this.#sql.write('users', () => enter(userId, now));
    const user = { name: String(row['user_name']), email: String(row['email']), role: row['role'] as Role };
    const bound = teamId === null ? {} : { boundTo: teamId };
    const made = createdBy === null ? {} : { keyMadeBy: createdBy };
    return { id: userId, ...user, keyId: id, keyExpiresAt: expiresAt, scopes, ...bound, ...made };
  }

  async find(id: string): Promise<ApiKey | null> {
    const selector = selectorIn(id);
    const row = selector && (await this.#sql.read(() => statements.find.get({ selector })));
    return row ? keyOf(row) : null;
  }

  async list(
    userId: string | null,
    { page, pageSize }: Page,
  ): Promise<{ keys: ApiKey[]; totalCount: number }> {
    const { list, count } = statements;
    const window = { offset: (page - 1) * pageSize, limit: pageSize };
    return this.#sql.readTogether(function* () {
      const keys = (yield* list.all({ user_id: userId, ...window })).map(keyOf);
      return { keys, totalCount: Number((yield* count.get({ user_id: userId }))?.['count']) };
    }, userId ?? undefined);
  }

  async countLive(userId: string, now: number): Promise<number> {
    const row = await this.#sql.read(() => statements.countLive.get({ user_id: userId, now }), userId);
    return Number(row?.['count']);
  }

  async countOpening(userId: string, now: number): Promise<number> {
    const row = await this.#sql.read(() => statements.countOpening.get({ user_id: userId, now }), userId);
    return Number(row?.['count']);
  }

  async revoke(id: string, now: number): Promise<ApiKey | null> {
    const selector = selectorIn(id);
    if (!selector) return null;
    const row = await this.#sql.writeOne(() => statements.revoke.get({ selector, now }));
    return row ? keyOf(row) : null;
  }

  async touch(used: Map<string, number>): Promise<void> {
    if (used.size === 0) return;
    await this.#sql.write('uses of keys', function* () {
      for (const [id, at] of used) yield* statements.touch.run({ selector: selectorIn(id), at });
    });
  }
}

const COLUMNS =
  'selector, user_id, name, created_at, expires_at, last_used_at, revoked_at, scopes, team_id, created_by';
const LIVE = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)';
const OF_USER = '(user_id = :user_id OR :user_id IS NULL)';

const statements = {
  insert: statement(
    `INSERT INTO api_keys (hash, selector, user_id, name, created_at, expires_at, scopes, team_id, created_by)
       VALUES (:hash, :selector, :user_id, :name, :created, :expires, :scopes, :team, :by)`,
  ),
  bySelector: statement(
    `SELECT hash, selector, user_id, api_keys.name, api_keys.created_at, expires_at, last_used_at, revoked_at, scopes,
              team_id, created_by, users.name AS user_name, users.email, users.role, users.disabled_at, users.entered_at
       FROM api_keys JOIN users ON users.id = api_keys.user_id WHERE selector = :selector`,
  ),
  find: statement(`SELECT ${COLUMNS} FROM api_keys WHERE selector = :selector`),
  list: statement(
    `SELECT ${COLUMNS} FROM api_keys WHERE ${OF_USER}
       ORDER BY created_at DESC, rowid DESC LIMIT :limit OFFSET :offset`,
  ),
  count: statement(`SELECT count(*) AS count FROM api_keys WHERE ${OF_USER}`),
  countOpening: statement(
    `SELECT count(*) AS count FROM api_keys WHERE user_id = :user_id AND team_id IS NULL AND ${LIVE}`,
  ),
  countLive: statement(`SELECT count(*) AS count FROM api_keys WHERE user_id = :user_id AND ${LIVE}`),
  forget: statement(
    `DELETE FROM api_keys WHERE rowid IN (
         SELECT rowid FROM api_keys WHERE user_id = :user_id AND NOT (${LIVE})
         ORDER BY coalesce(revoked_at, expires_at) DESC LIMIT 1000 OFFSET :kept)`,
  ),
  revoke: statement(
    `UPDATE api_keys SET revoked_at = coalesce(revoked_at, :now) WHERE selector = :selector
       RETURNING ${COLUMNS}`,
  ),
  touch: statement(
    `UPDATE api_keys SET last_used_at = :at
       WHERE selector = :selector AND (last_used_at IS NULL OR last_used_at < :at)`,
  ),
};

function* matching(hash: Buffer): Work<Row | undefined> {
  const candidates = yield* statements.bySelector.all({ selector: selectorOf(hash) });
  return candidates.find((candidate) => timingSafeEqual(candidate['hash'] as Uint8Array, hash));
}

function hashOf(apiKey: string): Buffer {
  return digest('sha256', apiKey, 'buffer');
}

function selectorOf(hash: Buffer): Buffer {
  return hash.subarray(0, SELECTOR_BYTES);
}

/** Returns null for what is no id of a key. */
export function selectorIn(id: string): Buffer | null {
  const digits = idPattern.exec(id)?.[1];
  return digits === undefined ? null : Buffer.from(digits, 'hex');
}

export function keyIdOf(selector: unknown): string {
  return `key_${Buffer.from(selector as Uint8Array).toString('hex')}`;
}

export function scopesIn(text: unknown): readonly Scope[] | null {
  return text === null ? null : (JSON.parse(String(text)) as Scope[]);
}

function keyOf(row: Row): ApiKey {
  return {
    id: keyIdOf(row['selector']),
    userId: String(row['user_id']),
    name: String(row['name']),
    createdAt: Number(row['created_at']),
    expiresAt: row['expires_at'] as number | null,
    lastUsedAt: row['last_used_at'] as number | null,
    revokedAt: row['revoked_at'] as number | null,
    scopes: scopesIn(row['scopes']),
    teamId: row['team_id'] as string | null,
    createdBy: row['created_by'] as string | null,
  };
}

function anothers(): SandhavenError {
  return new SandhavenError('already_exists', 'The API key belongs to another user.', {
    hint: 'Give the first user a key of their own as SANDBOX_API_KEY, or leave it unset.',
  });
}
