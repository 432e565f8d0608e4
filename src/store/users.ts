/**
 * Users and their API keys. Only the SHA-256 of a key is stored. It is found by its first eight bytes and then
 * compared whole in constant time, so that how long a wrong key takes says nothing of the right ones.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { UserStore } from '../control/ports.ts';
import { SandhavenError } from '../model/errors.ts';
import type { Caller, User } from '../model/user.ts';
import { type Database, isDuplicate, type Row } from './database.ts';

const SELECTOR_BYTES = 8;
const KEY_ID_BYTES = 8;

export class UserRows implements UserStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepare(database);
  }

  async insertUser({ id, name, email }: User): Promise<void> {
    try {
      this.#database.write(() => this.#statements.insertUser.run({ id, name, email }));
    } catch (error) {
      if (!isDuplicate(error, 'columns')) throw error;
      throw new SandhavenError('already_exists', `There is a user ${id} already.`);
    }
  }

  async firstUser(): Promise<User | null> {
    const row = this.#statements.firstUser.get();
    return row ? userOf(row) : null;
  }

  async addKey(userId: string, apiKey: string): Promise<void> {
    const hash = hashOf(apiKey);
    this.#database.write(() => {
      const known = this.#matching(hash);
      if (known?.id === userId) return;
      if (known) throw new SandhavenError('already_exists', 'The API key belongs to another user.');
      this.#statements.addKey.run({ hash, selector: selectorOf(hash), user_id: userId });
    });
  }

  async callerOfKey(apiKey: string): Promise<Caller | null> {
    const hash = hashOf(apiKey);
    const user = this.#matching(hash);
    return user && { ...user, keyId: keyIdOf(hash) };
  }

  #matching(hash: Buffer): User | null {
    const candidates = this.#statements.keysBySelector.all({ selector: selectorOf(hash) });
    const row = candidates.find((candidate) => timingSafeEqual(candidate['hash'] as Uint8Array, hash));
    return row ? userOf(row) : null;
  }
}

function prepare(database: Database) {
  return {
    insertUser: database.prepare('INSERT INTO users (id, name, email) VALUES (:id, :name, :email)'),
    firstUser: database.prepare('SELECT id, name, email FROM users ORDER BY sequence LIMIT 1'),
    addKey: database.prepare(
      'INSERT INTO api_keys (hash, selector, user_id) VALUES (:hash, :selector, :user_id)',
    ),
    keysBySelector: database.prepare(
      `SELECT hash, users.id, users.name, users.email
       FROM api_keys JOIN users ON users.id = api_keys.user_id WHERE selector = :selector`,
    ),
  };
}

function hashOf(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest();
}

function selectorOf(hash: Buffer): Buffer {
  return hash.subarray(0, SELECTOR_BYTES);
}

/** A prefix of a hash leads nowhere for a key that was drawn, and tells the keys of a service apart. */
function keyIdOf(hash: Buffer): string {
  return `key_${hash.subarray(0, KEY_ID_BYTES).toString('hex')}`;
}

function userOf(row: Row): User {
  return { id: String(row['id']), name: String(row['name']), email: String(row['email']) };
}
