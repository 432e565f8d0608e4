/** Passwords as rows: hashes that are sealed besides, so that a copy of the database alone gives nothing to guess at. */
import type { PasswordOwner, PasswordStore } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import type { Role } from '../../../model/user.ts';
import type { Secrets } from '../../secrets.ts';
import { type Dialect, type Row, type Sql, statement } from '../../sql/sql.ts';

export class PasswordRows implements PasswordStore {
  readonly #sql: Sql;
  readonly #secrets: Secrets;
  readonly #owners: ReturnType<typeof ownersStatement>;

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#secrets = secrets;
    this.#owners = ownersStatement(sql.dialect);
  }

  async setPassword(userId: string, hash: string, now: number): Promise<void> {
    const box = this.#secrets.seal(hash, placeOf(userId));
    await this.#sql.writeOne(() => statements.set.run({ user: userId, hash: box, now }));
  }

  async removePassword(userId: string): Promise<boolean> {
    return (await this.#sql.writeOne(() => statements.remove.run({ user: userId }))) === 1;
  }

  async passwordChangedAt(userId: string): Promise<number | null> {
    const row = await this.#sql.read(() => statements.changed.get({ user: userId }), userId);
    return row ? Number(row['changed_at']) : null;
  }

  async findPasswordOwners(emailOrName: string): Promise<PasswordOwner[]> {
    const rows = await this.#sql.read(() => this.#owners.all({ who: emailOrName }));
    return rows.map((row) => this.#decode(row));
  }

  async noteNetwork(userId: string, network: string): Promise<void> {
    await this.#sql.write(`password of ${userId}`, function* () {
      const row = yield* statements.networks.get({ user: userId });
      if (!row) return;
      const others = networksIn(row).filter((known) => known !== network);
      const networks = JSON.stringify([network, ...others].slice(0, limits.passwords.networksPerUser));
      yield* statements.note.run({ user: userId, networks });
    });
  }

  #decode(row: Row): PasswordOwner {
    const id = String(row['id']);
    return {
      user: {
        ...{ id, name: String(row['name']), email: String(row['email']), role: row['role'] as Role },
        disabledAt: row['disabled_at'] as number | null,
      },
      hash: row['hash'] === null ? null : this.#secrets.open(row['hash'], placeOf(id)),
      networks: networksIn(row),
      hasPasskey: Number(row['passkeys']) > 0,
    };
  }
}

const statements = {
  set: statement(
    `INSERT INTO passwords (user_id, changed_at, networks, hash) VALUES (:user, :now, '[]', :hash)
       ON CONFLICT (user_id) DO UPDATE SET changed_at = excluded.changed_at, hash = excluded.hash`,
  ),
  remove: statement('DELETE FROM passwords WHERE user_id = :user'),
  changed: statement('SELECT changed_at FROM passwords WHERE user_id = :user'),
  networks: statement('SELECT networks FROM passwords WHERE user_id = :user'),
  note: statement('UPDATE passwords SET networks = :networks WHERE user_id = :user'),
};

/** One statement for users that are there and for others. */
function ownersStatement({ equalsIgnoringCase }: Dialect) {
  const isEmail = equalsIgnoringCase('users.email', ':who');
  return statement(
    `SELECT users.id, users.name, users.email, users.role, users.disabled_at, passwords.hash, passwords.networks,
       (SELECT count(*) FROM passkeys WHERE passkeys.user_id = users.id) AS passkeys
     FROM users LEFT JOIN passwords ON passwords.user_id = users.id
     WHERE users.kind = 'person' AND (${isEmail} OR users.name = :who)
     ORDER BY CASE WHEN ${isEmail} THEN 0 ELSE 1 END, users.sequence LIMIT 3`,
  );
}

function networksIn(row: Row): string[] {
  return JSON.parse(String(row['networks'] ?? '[]')) as string[];
}

function placeOf(userId: string) {
  return { table: 'passwords', row: userId, column: 'hash' };
}
