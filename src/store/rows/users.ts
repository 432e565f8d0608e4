/** Users as rows, beside those of teams. Every method that writes has committed when its promise resolves. */
import { z } from 'zod';
import type { AccountPatch, Page, UserStore } from '../../control/ports/index.ts';
import { assertInvitable } from '../../model/access/ways-in.ts';
import { SandhavenError } from '../../model/errors.ts';
import { networkQuotaKinds, type Quota, quotaKinds } from '../../model/quota.ts';
import type { Account } from '../../model/user.ts';
import { type Dialect, type Row, type Sql, type SqlValues, statement, type Work } from '../sql/sql.ts';

const limit = z.int().min(0).nullable();
const quota = z.partialRecord(z.enum([...quotaKinds, ...networkQuotaKinds]), limit);

const names = ['id', 'name', 'email', 'role', 'created_at', 'disabled_at', 'quota'];
const all = names.join(', ');

export class UserRows implements UserStore {
  readonly #sql: Sql;
  readonly #statements: ReturnType<typeof userStatements>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#statements = userStatements(sql.dialect);
  }

  async insertUser(account: Account): Promise<void> {
    const insert = () => this.#statements.insert.run(encodeUser(account));
    await this.#refusingTakenEmail(() => this.#sql.writeOne(insert));
  }

  async firstUser(): Promise<Account | null> {
    return one(await this.#sql.read(() => this.#statements.first.get()));
  }

  async findUser(idOrEmail: string): Promise<Account | null> {
    const { findById, findByEmail } = this.#statements;
    const wanted = { wanted: idOrEmail };
    const row =
      (await this.#sql.read(() => findById.get(wanted))) ??
      (await this.#sql.read(() => findByEmail.get(wanted)));
    return one(row);
  }

  async listUsers({ page, pageSize }: Page): Promise<{ users: Account[]; totalCount: number }> {
    const { list, count } = this.#statements;
    return this.#sql.readTogether(function* () {
      const users = (yield* list.all({ offset: (page - 1) * pageSize, limit: pageSize })).map(decodeUser);
      return { users, totalCount: Number((yield* count.get())?.['count']) };
    });
  }

  async updateUser(id: string, change: (account: Account) => AccountPatch): Promise<Account | null> {
    const users = this.#statements;
    return this.#refusingTakenEmail(() =>
      this.#sql.write('users', function* () {
        const account = one(yield* users.findById.get({ wanted: id }));
        if (!account) return null;
        const changed = { ...account, ...change(account) };
        if (changed.disabledAt === null && (yield* users.deletion.get({ id }))) throw beingDeleted();
        yield* keepingAnAdmin(users, changed);
        return changed;
      }),
    );
  }

  async #refusingTakenEmail<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!this.#sql.isDuplicate(error, 'columns')) throw error;
      throw emailTaken();
    }
  }
}

/** Writes a user. Throws `failed_precondition` when that takes the last enabled admin away. */
export function* keepingAnAdmin(
  { update, admins }: ReturnType<typeof userStatements>,
  changed: Account,
): Work<void> {
  const before = Number((yield* admins.get())?.['count']);
  yield* update.run(encodeUser(changed));
  if (before > 0 && Number((yield* admins.get())?.['count']) === 0) throw lastAdmin();
}

export function userStatements({ equalsIgnoringCase }: Dialect) {
  const values = names.map((name) => `:${name}`).join(', ');
  const settings = names.map((name) => `${name} = :${name}`).join(', ');
  const select = (rest: string) => statement(`SELECT ${all} FROM users WHERE kind = 'person' ${rest}`);
  return {
    insert: statement(`INSERT INTO users (${all}) VALUES (${values})`),
    update: statement(`UPDATE users SET ${settings} WHERE id = :id`),
    first: select('ORDER BY sequence LIMIT 1'),
    findById: select('AND id = :wanted'),
    findByEmail: select(`AND ${equalsIgnoringCase('email', ':wanted')}`),
    list: select('ORDER BY sequence LIMIT :limit OFFSET :offset'),
    count: statement(`SELECT count(*) AS count FROM users WHERE kind = 'person'`),
    deletion: statement('SELECT id FROM deleted_users WHERE id = :id'),
    admins: statement(`SELECT count(*) AS count FROM users WHERE role = 'admin' AND disabled_at IS NULL`),
  };
}

export function encodeUser({ id, name, email, role, createdAt, disabledAt, quota }: Account): SqlValues {
  const times = { created_at: createdAt, disabled_at: disabledAt };
  return { id, name, email, role, ...times, quota: JSON.stringify(quota) };
}

function one(row: Row | undefined): Account | null {
  return row ? decodeUser(row) : null;
}

export function decodeUser(row: Row): Account {
  return {
    id: String(row['id']),
    name: String(row['name']),
    email: String(row['email']),
    role: row['role'] as Account['role'],
    createdAt: Number(row['created_at']),
    disabledAt: row['disabled_at'] as number | null,
    quota: quotaIn(row['quota']),
  };
}

export function emailTaken(): SandhavenError {
  return new SandhavenError('already_exists', 'There is a user with this email already.', {
    parameter: 'email',
    hint: 'Give another email, or update that user.',
  });
}

export function quotaIn(text: unknown): Partial<Quota> {
  return quota.parse(JSON.parse(String(text))) as Partial<Quota>;
}

function beingDeleted(): SandhavenError {
  return new SandhavenError('failed_precondition', 'The user is being deleted, and stays disabled.', {
    parameter: 'user',
    hint: 'Create another user once it has ended.',
  });
}

function lastAdmin(): SandhavenError {
  return new SandhavenError('failed_precondition', 'This is the last enabled admin.', {
    parameter: 'user',
    hint: 'Make another user an admin first.',
  });
}

const statements = {
  // Holds the row until the commit, so of two invitations at once the second one sees the first.
  hold: statement('UPDATE users SET entered_at = entered_at WHERE id = :user'),
  ways: statement(
    `SELECT entered_at,
       (SELECT count(*) FROM api_keys WHERE user_id = :user AND revoked_at IS NULL
          AND (expires_at IS NULL OR expires_at > :now)) AS keys,
       (SELECT count(*) FROM sign_in_links WHERE user_id = :user AND expires_at > :now) AS links,
       (SELECT count(*) FROM identities WHERE user_id = :user) AS identities
     FROM users WHERE id = :user`,
  ),
  entered: statement('SELECT entered_at FROM users WHERE id = :user'),
  enter: statement('UPDATE users SET entered_at = :now WHERE id = :user AND entered_at IS NULL'),
};

/** A part of works that make a way in. Throws `permission_denied` for a user who has, or has had, one. */
export function* assertFirstWayIn(userId: string, now: number): Work<void> {
  yield* statements.hold.run({ user: userId });
  const row = yield* statements.ways.get({ user: userId, now });
  if (!row) return;
  assertInvitable({
    enteredAt: row['entered_at'] as number | null,
    keys: Number(row['keys']),
    links: Number(row['links']),
    identities: Number(row['identities']),
  });
}

/** A part of works that use one: notes that the user comes in, for the first time. */
export function* enter(userId: string, now: number): Work<void> {
  const row = yield* statements.entered.get({ user: userId });
  // A statement that changes nothing would empty the caches of all replicas, too.
  if (row?.['entered_at'] === null) yield* statements.enter.run({ user: userId, now });
}
