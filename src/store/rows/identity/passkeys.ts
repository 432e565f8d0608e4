/** Passkeys, and challenges that were answered, as rows. */
import type { PasskeyStore } from '../../../control/ports/index.ts';
import type { Passkey } from '../../../model/access/passkeys.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { type Row, type Sql, type SqlValues, statement } from '../../sql/sql.ts';

export class PasskeyRows implements PasskeyStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async addPasskey(passkey: Passkey): Promise<void> {
    try {
      await this.#sql.write(`passkeys of ${passkey.userId}`, function* () {
        const stored = Number((yield* statements.count.get({ user: passkey.userId }))?.['count']);
        if (stored >= limits.passkeys.perUser) throw tooMany();
        yield* statements.insert.run(encode(passkey));
      });
    } catch (error) {
      if (!this.#sql.isDuplicate(error, 'columns')) throw error;
      throw known();
    }
  }

  async listPasskeys(userId: string): Promise<Passkey[]> {
    return (await this.#sql.read(() => statements.list.all({ user: userId }), userId)).map(decode);
  }

  async findPasskey(id: string): Promise<Passkey | null> {
    return one(await this.#sql.read(() => statements.find.get({ id })));
  }

  async findCredential(credentialId: string): Promise<Passkey | null> {
    return one(await this.#sql.read(() => statements.findCredential.get({ credential: credentialId })));
  }

  async renamePasskey(id: string, name: string): Promise<Passkey | null> {
    return one(await this.#sql.writeOne(() => statements.rename.get({ id, name })));
  }

  async usePasskey(id: string, counter: number, now: number): Promise<boolean> {
    return (await this.#sql.writeOne(() => statements.use.run({ id, counter, now }))) === 1;
  }

  async removePasskey(id: string): Promise<boolean> {
    return (await this.#sql.writeOne(() => statements.remove.run({ id }))) === 1;
  }

  async useChallenge(hash: Buffer, expiresAt: number, now: number): Promise<boolean> {
    return this.#sql.write('used challenges', function* () {
      yield* statements.pruneChallenges.run({ now });
      return (yield* statements.useChallenge.run({ hash, expires: expiresAt })) === 1;
    });
  }
}

const COLUMNS =
  'id, user_id, name, credential_id, public_key, counter, transports, rp_id, created_at, last_used_at';

const statements = {
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
