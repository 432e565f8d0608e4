/** Users as rows. Every method that writes has committed when its promise resolves. */
import { z } from 'zod';
import type { AccountPatch, Page, UserStore } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { type Quota, quotaKinds } from '../../model/quota.ts';
import type { Account } from '../../model/user.ts';
import { type Database, isDuplicate, type Row, type SqlValue } from './database.ts';

const limit = z.int().min(0).nullable();
const quota = z.partialRecord(z.enum(quotaKinds), limit);

const names = ['id', 'name', 'email', 'role', 'created_at', 'disabled_at', 'quota'];
const all = names.join(', ');

export class UserRows implements UserStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepare(database);
  }

  async insertUser(account: Account): Promise<void> {
    await refusingTakenEmail(() => this.#database.write(() => this.#statements.insert.run(encode(account))));
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

  async updateUser(id: string, change: (account: Account) => AccountPatch): Promise<Account | null> {
    return refusingTakenEmail(() =>
      this.#database.write(() => {
        const account = one(this.#statements.findById.get({ wanted: id }));
        if (!account) return null;
        const admins = this.#admins();
        const changed = { ...account, ...change(account) };
        this.#statements.update.run(encode(changed));
        if (admins > 0 && this.#admins() === 0) throw lastAdmin();
        return changed;
      }),
    );
  }

  #admins(): number {
    return Number(this.#statements.admins.get()?.['count']);
  }
}

function prepare(database: Database) {
  const values = names.map((name) => `:${name}`).join(', ');
  const settings = names.map((name) => `${name} = :${name}`).join(', ');
  const select = (rest: string) => database.prepare(`SELECT ${all} FROM users ${rest}`);
  return {
    insert: database.prepare(`INSERT INTO users (${all}) VALUES (${values})`),
    update: database.prepare(`UPDATE users SET ${settings} WHERE id = :id`),
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

function encode({ id, name, email, role, createdAt, disabledAt, quota }: Account): Record<string, SqlValue> {
  const times = { created_at: createdAt, disabled_at: disabledAt };
  return { id, name, email, role, ...times, quota: JSON.stringify(quota) };
}

function one(row: Row | undefined): Account | null {
  return row ? decode(row) : null;
}

function decode(row: Row): Account {
  return {
    id: String(row['id']),
    name: String(row['name']),
    email: String(row['email']),
    role: row['role'] as Account['role'],
    createdAt: Number(row['created_at']),
    disabledAt: row['disabled_at'] as number | null,
    quota: quota.parse(JSON.parse(String(row['quota']))) as Partial<Quota>,
  };
}

async function refusingTakenEmail<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDuplicate(error, 'columns')) throw error;
    throw new SandhavenError('already_exists', 'There is a user with this email already.', {
      parameter: 'email',
      hint: 'Give another email, or update that user.',
    });
  }
}

function lastAdmin(): SandhavenError {
  return new SandhavenError('failed_precondition', 'This is the last enabled admin.', {
    parameter: 'user',
    hint: 'Make another user an admin first.',
  });
}
