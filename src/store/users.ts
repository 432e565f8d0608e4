/** Users as rows. Every method that writes has committed when its promise resolves. */
import { z } from 'zod';
import type { AccountPatch, Page, UserStore } from '../control/ports.ts';
import { SandhavenError } from '../model/errors.ts';
import { type Quota, quotaKinds } from '../model/quota.ts';
import type { Account } from '../model/user.ts';
import { type Database, isDuplicate, type Row, type SqlValue } from './database.ts';

const limit = z.int().min(0).nullable();
const quota = z.partialRecord(z.enum(quotaKinds), limit);

/** Property and column. */
const columns = {
  id: 'id',
  name: 'name',
  email: 'email',
  role: 'role',
  createdAt: 'created_at',
  disabledAt: 'disabled_at',
  quota: 'quota',
} as const satisfies Record<keyof Account, string>;

const properties = Object.keys(columns) as (keyof Account)[];
const all = Object.values(columns).join(', ');

export class UserRows implements UserStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepare(database);
  }

  async insertUser(account: Account): Promise<void> {
    refusingTakenEmail(() => this.#database.write(() => this.#statements.insert.run(encode(account))));
  }

  async firstUser(): Promise<Account | null> {
    return one(this.#statements.first.get());
  }

  async findUser(idOrEmail: string): Promise<Account | null> {
    const { findById, findByEmail } = this.#statements;
    return one(findById.get({ wanted: idOrEmail }) ?? findByEmail.get({ wanted: idOrEmail }));
  }

  async listUsers({ page, pageSize }: Page): Promise<{ users: Account[]; totalCount: number }> {
    const { list, count } = this.#statements;
    return this.#database.read(() => ({
      users: list.all({ offset: (page - 1) * pageSize, limit: pageSize }).map(decode),
      totalCount: Number(count.get()?.['count']),
    }));
  }

  async updateUser(id: string, patch: AccountPatch): Promise<Account | null> {
    const values = encode(patch);
    const settings = Object.keys(values).map((column) => `${column} = :${column}`);
    const sql = `UPDATE users SET ${settings.join(', ') || 'id = id'} WHERE id = :this_id RETURNING ${all}`;
    return refusingTakenEmail(() =>
      this.#database.write(() => {
        const admins = this.#admins();
        const updated = one(this.#database.prepare(sql).get({ ...values, this_id: id }));
        if (admins > 0 && this.#admins() === 0) throw lastAdmin();
        return updated;
      }),
    );
  }

  #admins(): number {
    return Number(this.#statements.admins.get()?.['count']);
  }
}

function prepare(database: Database) {
  const names = Object.values(columns).map((name) => `:${name}`);
  const select = (rest: string) => database.prepare(`SELECT ${all} FROM users ${rest}`);
  return {
    insert: database.prepare(`INSERT INTO users (${all}) VALUES (${names.join(', ')})`),
    first: select('ORDER BY sequence LIMIT 1'),
    findById: select('WHERE id = :wanted'),
    findByEmail: select('WHERE email = :wanted COLLATE NOCASE'),
    list: select('ORDER BY sequence LIMIT :limit OFFSET :offset'),
    count: database.prepare('SELECT count(*) AS count FROM users'),
    admins: database.prepare(
      `SELECT count(*) AS count FROM users WHERE role = 'admin' AND disabled_at IS NULL`,
    ),
  };
}

function encode(account: Partial<Account>): Record<string, SqlValue> {
  const given = properties.filter((property) => Object.hasOwn(account, property));
  return Object.fromEntries(
    given.map((property) => {
      const value = account[property] ?? null;
      return [columns[property], typeof value === 'object' && value !== null ? JSON.stringify(value) : value];
    }),
  );
}

function one(row: Row | undefined): Account | null {
  return row ? decode(row) : null;
}

function decode(row: Row): Account {
  const plain = Object.fromEntries(properties.map((property) => [property, row[columns[property]]]));
  return { ...plain, quota: quota.parse(JSON.parse(String(row['quota']))) as Partial<Quota> } as Account;
}

function refusingTakenEmail<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isDuplicate(error, 'columns')) throw error;
    throw new SandhavenError('already_exists', 'There is a user with this email already.', {
      parameter: 'email',
      hint: 'Give another email, or update that user.',
    });
  }
}

function lastAdmin(): SandhavenError {
  return new SandhavenError('failed_precondition', 'This is the last admin who is enabled.', {
    parameter: 'user',
    hint: 'Make another user an admin first.',
  });
}
