/** Identities at the team's provider as rows, and the end of sign-ins that came from there. */
import type { EndedSessions, IdentityStore, OneTimeProof, Page } from '../../control/ports/index.ts';
import type { Identity, LinkedIdentity } from '../../model/access/identity.ts';
import type { Maker } from '../../model/access/ways-in.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Account } from '../../model/user.ts';
import { type Row, type Sql, type SqlValues, statement, type Work } from '../sql/sql.ts';
import { assertFirstWayIn, decodeUser, emailTaken, encodeUser, userStatements } from './users.ts';

/** Works of one lock run one after another: the bounds are counted and kept in one transaction. */
const LOCK = 'identities';
const PROOFS = 'used proofs';

export class IdentityRows implements IdentityStore {
  readonly #sql: Sql;
  readonly #users: ReturnType<typeof userStatements>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#users = userStatements(sql.dialect);
  }

  async findUserOf(identity: Identity): Promise<Account | null> {
    const row = await this.#sql.read(() => statements.findUser.get(encode(identity)));
    return row ? decodeUser(row) : null;
  }

  async enrol(account: Account, identity: Identity): Promise<Account> {
    const users = this.#users;
    const linked = { ...identity, userId: account.id, linkedAt: account.createdAt, linkedBy: null };
    try {
      return await this.#sql.write(LOCK, function* () {
        const known = yield* statements.findUser.get(encode(identity));
        if (known) return decodeUser(known);
        const all = Number((yield* statements.count.get({ user: null }))?.['count']);
        if (all >= limits.identity.identities) throw tooMany('of this service');
        if (yield* users.findByEmail.get({ wanted: account.email })) throw emailTaken();
        yield* users.insert.run(encodeUser(account));
        yield* insert(linked);
        return account;
      });
    } catch (error) {
      // A user made beside this work, under another lock.
      throw this.#sql.isDuplicate(error, 'columns') ? emailTaken() : error;
    }
  }

  async link(identity: Omit<LinkedIdentity, 'linkedBy'>, by: Maker | null): Promise<void> {
    await this.#sql.write(LOCK, function* () {
      const known = yield* statements.find.get(encode(identity));
      if (known && String(known['user_id']) === identity.userId) return;
      if (known) throw linkedAlready();
      if (by?.invites) yield* assertFirstWayIn(identity.userId, identity.linkedAt);
      const own = Number((yield* statements.count.get({ user: identity.userId }))?.['count']);
      if (own >= limits.identity.perUser) throw tooMany('of this user');
      yield* insert({ ...identity, linkedBy: by?.id ?? null });
    });
  }

  async unlink(identity: Identity): Promise<LinkedIdentity | null> {
    const row = await this.#sql.writeOne(() => statements.remove.get(encode(identity)));
    return row ? decode(row) : null;
  }

  listIdentities(
    userId: string | null,
    { page, pageSize }: Page,
  ): Promise<{ identities: LinkedIdentity[]; totalCount: number }> {
    const { list, count } = statements;
    const window = { offset: (page - 1) * pageSize, limit: pageSize };
    return this.#sql.readTogether(function* () {
      const identities = (yield* list.all({ user: userId, ...window })).map(decode);
      return { identities, totalCount: Number((yield* count.get({ user: userId }))?.['count']) };
    });
  }

  removeSignInsOf({ issuer, subject, sid }: EndedSessions, proof?: OneTimeProof): Promise<string[] | null> {
    return this.#sql.write(PROOFS, function* () {
      if (proof && !(yield* use(proof))) return null;
      const rows = yield* statements.removeSignIns.all({ issuer, subject, sid });
      return rows.map(({ id }) => String(id));
    });
  }

  useOnce(proof: OneTimeProof): Promise<boolean> {
    return this.#sql.write(PROOFS, () => use(proof));
  }
}

const COLUMNS = 'issuer, subject, user_id, linked_at, linked_by';
const IS = 'issuer = :issuer AND subject = :subject';
const OF_USER = '(user_id = :user OR :user IS NULL)';

const statements = {
  find: statement(`SELECT ${COLUMNS} FROM identities WHERE ${IS}`),
  findUser: statement(
    `SELECT users.* FROM identities JOIN users ON users.id = identities.user_id WHERE ${IS}`,
  ),
  insert: statement(`INSERT INTO identities (${COLUMNS}) VALUES (:issuer, :subject, :user, :linked, :by)`),
  remove: statement(`DELETE FROM identities WHERE ${IS} RETURNING ${COLUMNS}`),
  list: statement(
    `SELECT ${COLUMNS} FROM identities WHERE ${OF_USER}
       ORDER BY linked_at DESC, rowid DESC LIMIT :limit OFFSET :offset`,
  ),
  count: statement(`SELECT count(*) AS count FROM identities WHERE ${OF_USER}`),
  // A sign-in whose session has no name ends with each session of its subject: it may be any of them.
  removeSignIns: statement(
    `DELETE FROM sign_ins WHERE id IN (SELECT sign_in_id FROM provider_sign_ins
       WHERE issuer = :issuer AND (subject = :subject OR :subject IS NULL)
         AND (sid = :sid OR :sid IS NULL OR (sid IS NULL AND :subject IS NOT NULL))
         AND (:subject IS NOT NULL OR :sid IS NOT NULL)) RETURNING id`,
  ),
  forget: statement('DELETE FROM used_proofs WHERE expires_at <= :now'),
  use: statement(
    'INSERT INTO used_proofs (hash, expires_at) VALUES (:hash, :expires) ON CONFLICT (hash) DO NOTHING',
  ),
  surplus: statement(
    `DELETE FROM used_proofs WHERE hash IN (SELECT hash FROM used_proofs
       ORDER BY expires_at DESC, rowid DESC LIMIT 1000 OFFSET :kept)`,
  ),
};

function* use({ hash, expiresAt, now }: OneTimeProof): Work<boolean> {
  yield* statements.forget.run({ now });
  const added = yield* statements.use.run({ hash, expires: expiresAt });
  if (added === 1) yield* statements.surplus.run({ kept: limits.identity.used });
  return added === 1;
}

function* insert({ userId, linkedAt, linkedBy, ...identity }: LinkedIdentity): Work<void> {
  yield* statements.insert.run({ ...encode(identity), user: userId, linked: linkedAt, by: linkedBy });
}

function encode({ issuer, subject }: Identity): SqlValues {
  return { issuer, subject };
}

function decode(row: Row): LinkedIdentity {
  return {
    issuer: String(row['issuer']),
    subject: String(row['subject']),
    userId: String(row['user_id']),
    linkedAt: Number(row['linked_at']),
    linkedBy: row['linked_by'] as string | null,
  };
}

function linkedAlready(): SandhavenError {
  return new SandhavenError('already_exists', 'The identity is linked with another user already.', {
    parameter: 'subject',
    hint: 'Unlink it first: `sandhaven identities unlink SUBJECT`.',
  });
}

function tooMany(whose: string): SandhavenError {
  return new SandhavenError('resource_exhausted', `The identities ${whose} are at their bound.`, {
    hint: 'An admin can unlink some that nobody uses: `sandhaven identities` lists them.',
  });
}
