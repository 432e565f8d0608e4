/** Passkeys, challenges that were answered, and passwords, as rows. */
import type { PasskeyStore, PasswordOwner, PasswordStore } from '../../control/ports/index.ts';
import type { Passkey } from '../../model/access/passkeys.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Role } from '../../model/user.ts';
import type { Secrets } from '../files/secrets.ts';
import { type Dialect, type Row, type Sql, type SqlValues, statement } from '../sql/sql.ts';

export class PasskeyRows implements PasskeyStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async addPasskey(passkey: Passkey): Promise<void> {
    try {
      await this.#sql.write(`passkeys of ${passkey.userId}`, function* () {
        const stored = Number((yield* passkeyStatements.count.get({ user: passkey.userId }))?.['count']);
        if (stored >= limits.passkeys.perUser) throw tooMany();
        yield* passkeyStatements.insert.run(encode(passkey));
      });
    } catch (error) {
      if (!this.#sql.isDuplicate(error, 'columns')) throw error;
      throw known();
    }
  }

  async listPasskeys(userId: string): Promise<Passkey[]> {
    return (await this.#sql.read(() => passkeyStatements.list.all({ user: userId }), userId)).map(decode);
  }

  async findPasskey(id: string): Promise<Passkey | null> {
    return one(await this.#sql.read(() => passkeyStatements.find.get({ id })));
  }

  async findCredential(credentialId: string): Promise<Passkey | null> {
    return one(
      await this.#sql.read(() => passkeyStatements.findCredential.get({ credential: credentialId })),
    );
  }

  async renamePasskey(id: string, name: string): Promise<Passkey | null> {
    return one(await this.#sql.writeOne(() => passkeyStatements.rename.get({ id, name })));
  }

  async usePasskey(id: string, counter: number, now: number): Promise<boolean> {
    return (await this.#sql.writeOne(() => passkeyStatements.use.run({ id, counter, now }))) === 1;
  }

  async removePasskey(id: string): Promise<boolean> {
    return (await this.#sql.writeOne(() => passkeyStatements.remove.run({ id }))) === 1;
  }

  async useChallenge(hash: Buffer, expiresAt: number, now: number): Promise<boolean> {
    return this.#sql.write('used challenges', function* () {
      yield* passkeyStatements.pruneChallenges.run({ now });
      return (yield* passkeyStatements.useChallenge.run({ hash, expires: expiresAt })) === 1;
    });
  }
}

const COLUMNS =
  'id, user_id, name, credential_id, public_key, counter, transports, rp_id, created_at, last_used_at';

const passkeyStatements = {
  insert: statement(
    `INSERT INTO passkeys (${COLUMNS}) VALUES
       (:id, :user, :name, :credential, :public_key, :counter, :transports, :rp_id, :created, :used)`,
  ),
  count: statement('SELECT count(*) AS count FROM passkeys WHERE user_id = :user'),
  list: statement(`SELECT ${COLUMNS} FROM passkeys WHERE user_id = :user ORDER BY created_at, rowid`),
  find: statement(`SELECT ${COLUMNS} FROM passkeys WHERE id = :id`),
  findCredential: statement(`SELECT ${COLUMNS} FROM passkeys WHERE credential_id = :credential`),
  rename: statement(`UPDATE passkeys SET name = :name WHERE id = :id RETURNING ${COLUMNS}`),
  use: statement(
    `UPDATE passkeys SET counter = :counter, last_used_at = :now
       WHERE id = :id AND (counter < :counter OR (counter = 0 AND :counter = 0))`,
  ),
  remove: statement('DELETE FROM passkeys WHERE id = :id'),
  useChallenge: statement(
    'INSERT INTO used_challenges (hash, expires_at) VALUES (:hash, :expires) ON CONFLICT (hash) DO NOTHING',
  ),
  pruneChallenges: statement('DELETE FROM used_challenges WHERE expires_at <= :now'),
};

function encode(passkey: Passkey): SqlValues {
  const { id, userId, name, credentialId, publicKey, counter, transports, rpId } = passkey;
  return {
    ...{ id, user: userId, name, credential: credentialId, public_key: publicKey, counter, rp_id: rpId },
    transports: JSON.stringify(transports),
    created: passkey.createdAt,
    used: passkey.lastUsedAt,
  };
}

function one(row: Row | undefined): Passkey | null {
  return row ? decode(row) : null;
}

function decode(row: Row): Passkey {
  return {
    id: String(row['id']),
    userId: String(row['user_id']),
    name: String(row['name']),
    credentialId: String(row['credential_id']),
    publicKey: Buffer.from(row['public_key'] as Uint8Array),
    counter: Number(row['counter']),
    transports: JSON.parse(String(row['transports'])) as string[],
    rpId: String(row['rp_id']),
    createdAt: Number(row['created_at']),
    lastUsedAt: row['last_used_at'] === null ? null : Number(row['last_used_at']),
  };
}

function tooMany(): SandhavenError {
  return new SandhavenError('resource_exhausted', `There are ${limits.passkeys.perUser} passkeys already.`, {
    hint: 'Remove one that is no longer needed.',
  });
}

function known(): SandhavenError {
  return new SandhavenError('already_exists', 'This passkey was added already.', {
    hint: 'Use it to sign in, or add one of another device.',
  });
}

/**
 * Passwords as rows: hashes that are sealed besides, so that a copy of the database alone gives nothing to guess at.
 */
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
    await this.#sql.writeOne(() => passwordStatements.set.run({ user: userId, hash: box, now }));
  }

  async removePassword(userId: string): Promise<boolean> {
    return (await this.#sql.writeOne(() => passwordStatements.remove.run({ user: userId }))) === 1;
  }

  async passwordChangedAt(userId: string): Promise<number | null> {
    const row = await this.#sql.read(() => passwordStatements.changed.get({ user: userId }), userId);
    return row ? Number(row['changed_at']) : null;
  }

  async findPasswordOwners(emailOrName: string): Promise<PasswordOwner[]> {
    const rows = await this.#sql.read(() => this.#owners.all({ who: emailOrName }));
    return rows.map((row) => this.#decode(row));
  }

  async noteNetwork(userId: string, network: string): Promise<void> {
    await this.#sql.write(`password of ${userId}`, function* () {
      const row = yield* passwordStatements.networks.get({ user: userId });
      if (!row) return;
      const others = networksIn(row).filter((known) => known !== network);
      const networks = JSON.stringify([network, ...others].slice(0, limits.passwords.networksPerUser));
      yield* passwordStatements.note.run({ user: userId, networks });
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

const passwordStatements = {
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
