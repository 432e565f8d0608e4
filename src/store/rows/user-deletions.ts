/** Deletions of users as rows. Most of what a user owns goes by its foreign key; the rest is named here. */
import type { OwnedByUser, UserDeletion, UserDeletionStore } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { type Dialect, type Row, type Sql, statement } from '../sql/sql.ts';
import { decodeUser, keepingAnAdmin, userStatements } from './users.ts';

/** Changes of users run one after another: the last enabled admin is counted in the transaction. */
const LOCK = 'users';

export class UserDeletionRows implements UserDeletionStore {
  readonly #sql: Sql;
  readonly #users: ReturnType<typeof userStatements>;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#users = userStatements(sql.dialect);
    this.#statements = prepare(sql.dialect);
  }

  async owned(id: string): Promise<OwnedByUser> {
    const row = (await this.#sql.read(() => this.#statements.owned.get({ id }))) ?? {};
    const count = (name: keyof OwnedByUser) => Number(row[name]);
    return {
      ...{ sandboxes: count('sandboxes'), snapshots: count('snapshots'), secrets: count('secrets') },
      ...{ webhooks: count('webhooks'), keys: count('keys'), teams: count('teams') },
    };
  }

  begin(id: string, by: string, now: number, heirId: string | null): Promise<UserDeletion | null> {
    const { insert, findById, heir, inherits } = this.#statements;
    const users = this.#users;
    return this.#sql.write(LOCK, function* () {
      const row = yield* users.findById.get({ wanted: id });
      if (!row) return null;
      const user = decodeUser(row);
      if (heirId !== null && !(yield* heir.get({ heir: heirId }))) throw noHeir();
      if (yield* inherits.get({ id })) throw isHeir();
      yield* keepingAnAdmin(users, { ...user, disabledAt: user.disabledAt ?? now });
      yield* insert.run({ id, name: user.name, email: user.email, by, now, heir: heirId });
      const begun = yield* findById.get({ id });
      return begun ? decode(begun) : null;
    });
  }

  async taken(id: string, heirId: string, limit: number): Promise<string[]> {
    const rows = await this.#sql.read(() => this.#statements.taken.all({ id, heir: heirId, limit }));
    return rows.map((row) => `${row['kind']} '${row['name']}'`);
  }

  async underWay(): Promise<UserDeletion[]> {
    return (await this.#sql.read(() => this.#statements.underWay.all())).map(decode);
  }

  finish(id: string, now: number): Promise<boolean> {
    const { hold, owned, removals, end } = this.#statements;
    return this.#sql.write(LOCK, function* () {
      yield* hold.run({ id });
      const row = yield* owned.get({ id });
      if (Number(row?.['sandboxes']) + Number(row?.['snapshots']) > 0) return false;
      for (const removal of removals) yield* removal.run({ id });
      yield* end.run({ id, now });
      return true;
    });
  }

  async find(idOrEmail: string): Promise<UserDeletion | null> {
    const row = await this.#sql.read(() => this.#statements.find.get({ wanted: idOrEmail }));
    return row ? decode(row) : null;
  }
}

function prepare({ equalsIgnoringCase }: Dialect) {
  const of = (table: string, column: string, more = '') =>
    `(SELECT count(*) FROM ${table} WHERE ${column} = :id ${more}) AS ${table === 'api_keys' ? 'keys' : table}`;
  const select = 'SELECT id, name, email, deleted_by, heir_id, begun_at, ended_at FROM deleted_users';
  const taken = (kind: string, table: string, more: string) =>
    `SELECT '${kind}' AS kind, name FROM ${table} AS one WHERE owner_id = :id ${more}
       AND EXISTS (SELECT 1 FROM ${table} AS other WHERE other.owner_id = :heir AND other.name = one.name)`;
  return {
    owned: statement(
      `SELECT ${of('sandboxes', 'owner_id')}, ${of('snapshots', 'owner_id')}, ${of('secrets', 'owner_id')},
         ${of('webhooks', 'owner_id')}, ${of('api_keys', 'user_id', 'AND revoked_at IS NULL')},
         (SELECT count(*) FROM team_members WHERE user_id = :id) AS teams`,
    ),
    insert: statement(
      `INSERT INTO deleted_users (id, name, email, deleted_by, begun_at, heir_id)
         VALUES (:id, :name, :email, :by, :now, :heir)
         ON CONFLICT (id) DO UPDATE SET heir_id = coalesce(excluded.heir_id, deleted_users.heir_id)`,
    ),
    heir: statement(`SELECT id FROM users WHERE id = :heir AND disabled_at IS NULL AND role <> 'viewer'`),
    inherits: statement('SELECT id FROM deleted_users WHERE heir_id = :id AND ended_at IS NULL'),
    taken: statement(
      `${taken('sandbox', 'sandboxes', '')} UNION ALL ${taken('snapshot', 'snapshots', `AND state = 'active'`)}
         ORDER BY kind, name LIMIT :limit`,
    ),
    findById: statement(`${select} WHERE id = :id`),
    find: statement(
      `${select} WHERE id = :wanted OR ${equalsIgnoringCase('email', ':wanted')} ORDER BY begun_at DESC LIMIT 1`,
    ),
    underWay: statement(`${select} WHERE ended_at IS NULL ORDER BY begun_at`),
    end: statement('UPDATE deleted_users SET ended_at = :now WHERE id = :id AND ended_at IS NULL'),
    // Until the commit: a sandbox that is added meanwhile waits for it, and then has no owner to name.
    hold: statement('UPDATE users SET disabled_at = disabled_at WHERE id = :id'),
    removals: [
      statement('DELETE FROM idempotency WHERE owner_id = :id'),
      statement('DELETE FROM idempotency_held WHERE owner_id = :id'),
      // A team's webhook stays the team's, whoever made it.
      statement('UPDATE webhooks SET created_by = owner_id WHERE created_by = :id AND owner_id <> :id'),
      statement('DELETE FROM webhooks WHERE created_by = :id'),
      statement('DELETE FROM api_keys WHERE user_id = :id'),
      statement(`DELETE FROM users WHERE id = :id AND kind = 'person'`),
    ],
  };
}

function decode(row: Row): UserDeletion {
  return {
    ...{ id: String(row['id']), name: String(row['name']), email: String(row['email']) },
    deletedBy: String(row['deleted_by']),
    heirId: row['heir_id'] as string | null,
    begunAt: Number(row['begun_at']),
    endedAt: row['ended_at'] as number | null,
  };
}

function noHeir(): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    'Who is to have the sandboxes is gone, disabled or a viewer.',
    {
      parameter: 'to',
      hint: 'Name an enabled user who is no viewer, or a team.',
    },
  );
}

function isHeir(): SandhavenError {
  return new SandhavenError('failed_precondition', 'What another user owns is on its way to this one.', {
    parameter: 'user',
    hint: 'Wait until that deletion has ended, or repeat it with another one as `to`.',
  });
}
