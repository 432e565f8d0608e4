/** Browsers' sign-ins and one-time links as rows. Only the SHA-256 of each token is stored; lookup is by id. */
import { timingSafeEqual } from 'node:crypto';
import type { NewLink, Page, SignInStore, StoredSignIn, TakenLink } from '../../control/ports/index.ts';
import type { IdentityProviderSession } from '../../model/access/identity.ts';
import type { SignIn, SignInTokens } from '../../model/access/sign-ins.ts';
import { limits } from '../../model/limits.ts';
import type { Role } from '../../model/user.ts';
import { type Row, type Sql, type SqlValues, statement } from '../sql/sql.ts';
import { keyIdOf, scopesIn, selectorIn } from './api-keys.ts';
import { assertFirstWayIn, enter } from './users.ts';

export class SignInRows implements SignInStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  addSignIn(signIn: SignIn, tokens: SignInTokens, session?: IdentityProviderSession): Promise<string[]> {
    const { insert, surplus, bind, nameLinker } = statements;
    return this.#sql.write(`sign-ins of ${signIn.userId}`, function* () {
      yield* insert.run({ ...encode(signIn), ...encodeTokens(tokens) });
      if (session) {
        yield* bind.run({ id: signIn.id, ...sessionValues(session) });
        yield* nameLinker.run({ id: signIn.id });
      }
      yield* enter(signIn.userId, signIn.createdAt);
      const ended = yield* surplus.all({ user: signIn.userId, kept: limits.signIn.perUser });
      return ended.map(({ id }) => String(id));
    });
  }

  async findSignIn(id: string, now: number): Promise<StoredSignIn | null> {
    const row = await this.#sql.read(() => statements.find.get({ id }));
    if (!row || row['disabled_at'] !== null) return null;
    if (row['key_selector'] !== null && !isValidKey(row, now)) return null;
    const user = { name: String(row['name']), email: String(row['email']), role: row['role'] as Role };
    return {
      signIn: decode(row),
      tokens: decodeTokens(row),
      user: { id: String(row['user_id']), ...user },
      scopes: scopesIn(row['scopes']),
    };
  }

  async replaceTokens(id: string, before: SignInTokens, after: SignInTokens): Promise<boolean> {
    const known = { before: before.hash, before_next: before.nextHash };
    const written = await this.#sql.writeOne(() =>
      statements.replace.run({ id, ...known, ...encodeTokens(after) }),
    );
    return written === 1;
  }

  listSignIns(
    userId: string | null,
    { page, pageSize }: Page,
  ): Promise<{ signIns: SignIn[]; totalCount: number }> {
    const { list, count } = statements;
    const window = { offset: (page - 1) * pageSize, limit: pageSize };
    return this.#sql.readTogether(function* () {
      const signIns = (yield* list.all({ user: userId, ...window })).map(decode);
      return { signIns, totalCount: Number((yield* count.get({ user: userId }))?.['count']) };
    }, userId ?? undefined);
  }

  async removeSignIn(id: string, userId: string | null): Promise<SignIn | null> {
    const row = await this.#sql.writeOne(() => statements.remove.get({ id, user: userId }));
    return row ? decode(row) : null;
  }

  async removeSignInsOfKey(keyId: string): Promise<string[]> {
    const selector = selectorIn(keyId);
    const rows = selector ? await this.#sql.writeOne(() => statements.removeOfKey.all({ selector })) : [];
    return rows.map(({ id }) => String(id));
  }

  async removeOtherSignIns(userId: string, keptId: string): Promise<string[]> {
    const others = { user: userId, kept: keptId };
    const rows = await this.#sql.writeOne(() => statements.removeOthers.all(others));
    return rows.map(({ id }) => String(id));
  }

  async touchSignIns(used: Map<string, number>): Promise<void> {
    if (used.size === 0) return;
    await this.#sql.write('uses of sign-ins', function* () {
      for (const [id, at] of used) yield* statements.touch.run({ id, at });
    });
  }

  async pruneSignIns(now: number, idleSince: number): Promise<void> {
    await this.#sql.write('sign-ins that are over', function* () {
      yield* statements.prune.run({ now, idle_since: idleSince });
      yield* statements.pruneLinks.run({ now });
    });
  }

  async addLink(hash: Buffer, userId: string, { now, expiresAt, by }: NewLink): Promise<void> {
    await this.#sql.write(`links of ${userId}`, function* () {
      if (by?.invites) yield* assertFirstWayIn(userId, now);
      yield* statements.addLink.run({ hash, user: userId, expires: expiresAt, by: by?.id ?? null });
      yield* statements.surplusLinks.run({ user: userId, kept: limits.signIn.linksPerUser });
    });
  }

  takeLink(hash: Buffer, now: number): Promise<TakenLink | null> {
    return this.#sql.write('sign-in links', function* () {
      const link = yield* statements.takeLink.get({ hash });
      if (!link || !timingSafeEqual(link['hash'] as Uint8Array, hash)) return null;
      if (Number(link['expires_at']) <= now) return null;
      return { userId: String(link['user_id']), createdBy: link['created_by'] as string | null };
    });
  }
}

const COLUMNS = 'id, user_id, key_selector, made_by, created_at, last_used_at, expires_at';
const TOKENS = 'hash, since, next_hash, next_at, previous_hash, previous_until';
const OF_USER = '(user_id = :user OR :user IS NULL)';

const statements = {
  insert: statement(
    `INSERT INTO sign_ins (${COLUMNS}, ${TOKENS}) VALUES (:id, :user, :selector, :made_by, :created, :used, :expires,
       :hash, :since, :next_hash, :next_at, :previous_hash, :previous_until)`,
  ),
  bind: statement(
    `INSERT INTO provider_sign_ins (sign_in_id, issuer, subject, sid) VALUES (:id, :issuer, :subject, :sid)`,
  ),
  nameLinker: statement(
    `UPDATE sign_ins SET made_by = (SELECT linked_by FROM identities JOIN provider_sign_ins AS came
       ON came.issuer = identities.issuer AND came.subject = identities.subject WHERE came.sign_in_id = :id)
     WHERE id = :id`,
  ),
  surplus: statement(
    `DELETE FROM sign_ins WHERE id IN (SELECT id FROM sign_ins WHERE user_id = :user
       ORDER BY last_used_at DESC, rowid DESC LIMIT 1000 OFFSET :kept) RETURNING id`,
  ),
  find: statement(
    `SELECT sign_ins.*, users.name, users.email, users.role, users.disabled_at, api_keys.scopes,
       api_keys.selector AS selector, api_keys.revoked_at, api_keys.expires_at AS key_expires_at
     FROM sign_ins JOIN users ON users.id = sign_ins.user_id
       LEFT JOIN api_keys ON api_keys.selector = sign_ins.key_selector WHERE sign_ins.id = :id`,
  ),
  replace: statement(
    `UPDATE sign_ins SET hash = :hash, since = :since, next_hash = :next_hash, next_at = :next_at,
       previous_hash = :previous_hash, previous_until = :previous_until
     WHERE id = :id AND hash = :before AND next_hash IS NOT DISTINCT FROM :before_next`,
  ),
  list: statement(
    `SELECT ${COLUMNS} FROM sign_ins WHERE ${OF_USER}
       ORDER BY last_used_at DESC, rowid DESC LIMIT :limit OFFSET :offset`,
  ),
  count: statement(`SELECT count(*) AS count FROM sign_ins WHERE ${OF_USER}`),
  remove: statement(`DELETE FROM sign_ins WHERE id = :id AND ${OF_USER} RETURNING ${COLUMNS}`),
  removeOfKey: statement('DELETE FROM sign_ins WHERE key_selector = :selector RETURNING id'),
  removeOthers: statement('DELETE FROM sign_ins WHERE user_id = :user AND id <> :kept RETURNING id'),
  touch: statement('UPDATE sign_ins SET last_used_at = :at WHERE id = :id AND last_used_at < :at'),
  prune: statement('DELETE FROM sign_ins WHERE expires_at <= :now OR last_used_at <= :idle_since'),
  addLink: statement(
    'INSERT INTO sign_in_links (hash, user_id, expires_at, created_by) VALUES (:hash, :user, :expires, :by)',
  ),
  surplusLinks: statement(
    `DELETE FROM sign_in_links WHERE hash IN (SELECT hash FROM sign_in_links WHERE user_id = :user
       ORDER BY expires_at DESC, rowid DESC LIMIT 1000 OFFSET :kept)`,
  ),
  takeLink: statement(
    'DELETE FROM sign_in_links WHERE hash = :hash RETURNING hash, user_id, expires_at, created_by',
  ),
  pruneLinks: statement('DELETE FROM sign_in_links WHERE expires_at <= :now'),
};

function isValidKey(row: Row, now: number): boolean {
  const expiresAt = row['key_expires_at'];
  if (row['selector'] === null || row['revoked_at'] !== null) return false;
  return expiresAt === null || Number(expiresAt) > now;
}

function encode({ id, userId, keyId, madeBy, createdAt, lastUsedAt, expiresAt }: SignIn): SqlValues {
  const selector = keyId === null ? null : selectorIn(keyId);
  const times = { created: createdAt, used: lastUsedAt, expires: expiresAt };
  return { id, user: userId, selector, made_by: madeBy, ...times };
}

function sessionValues({ issuer, subject, sid }: IdentityProviderSession): SqlValues {
  return { issuer, subject, sid };
}

function encodeTokens(tokens: SignInTokens): SqlValues {
  return {
    hash: tokens.hash,
    since: tokens.since,
    next_hash: tokens.nextHash,
    next_at: tokens.nextAt,
    previous_hash: tokens.previousHash,
    previous_until: tokens.previousUntil,
  };
}

function decode(row: Row): SignIn {
  return {
    id: String(row['id']),
    userId: String(row['user_id']),
    keyId: row['key_selector'] === null ? null : keyIdOf(row['key_selector']),
    madeBy: row['made_by'] as string | null,
    createdAt: Number(row['created_at']),
    lastUsedAt: Number(row['last_used_at']),
    expiresAt: Number(row['expires_at']),
  };
}

function decodeTokens(row: Row): SignInTokens {
  const bytes = (name: string) => (row[name] === null ? null : Buffer.from(row[name] as Uint8Array));
  return {
    hash: Buffer.from(row['hash'] as Uint8Array),
    since: Number(row['since']),
    nextHash: bytes('next_hash'),
    nextAt: row['next_at'] as number | null,
    previousHash: bytes('previous_hash'),
    previousUntil: row['previous_until'] as number | null,
  };
}
