/**
 * Answers of calls with an Idempotency-Key, as rows. They are sealed, digests included: a request may hold secrets,
 * and a plain digest lets an attacker guess a short one.
 */
import { z } from 'zod';
import type { IdempotencyStore } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import type { Secrets } from '../secrets.ts';
import type { Database } from './database.ts';

const answer = z.strictObject({ requestDigest: z.string(), result: z.unknown() });

export class IdempotencyRows implements IdempotencyStore {
  readonly #database: Database;
  readonly #secrets: Secrets;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: Database, secrets: Secrets) {
    this.#database = database;
    this.#secrets = secrets;
    this.#statements = prepare(database);
  }

  async get(ownerId: string, key: string): Promise<{ requestDigest: string; result: unknown } | null> {
    const row = this.#statements.get.get({ owner: ownerId, key });
    if (!row) return null;
    return answer.parse(JSON.parse(this.#secrets.open(row['answer'], placeOf(ownerId, key))));
  }

  /** Stores the answer; keeps the first one under a key. */
  async put(
    ownerId: string,
    key: string,
    requestDigest: string,
    result: unknown,
    now: number,
  ): Promise<void> {
    const plaintext = JSON.stringify({ requestDigest, result: result ?? null });
    const sealed = this.#secrets.seal(plaintext, placeOf(ownerId, key));
    await this.#database.write(() => {
      this.#statements.put.run({ owner: ownerId, key, now, answer: sealed });
      this.#statements.forget.run({ owner: ownerId, kept: limits.idempotencyKeptPerOwner });
    });
  }

  async prune(olderThan: number): Promise<void> {
    await this.#database.write(() => this.#statements.prune.run({ older_than: olderThan }));
  }
}

function prepare(database: Database) {
  return {
    get: database.prepare('SELECT answer FROM idempotency WHERE owner_id = :owner AND key = :key'),
    put: database.prepare(
      `INSERT INTO idempotency (owner_id, key, created_at, answer) VALUES (:owner, :key, :now, :answer)
       ON CONFLICT DO NOTHING`,
    ),
    forget: database.prepare(
      `DELETE FROM idempotency WHERE rowid IN (SELECT rowid FROM idempotency WHERE owner_id = :owner
       ORDER BY created_at DESC, rowid DESC LIMIT -1 OFFSET :kept)`,
    ),
    prune: database.prepare('DELETE FROM idempotency WHERE created_at < :older_than'),
  };
}

function placeOf(ownerId: string, key: string) {
  return { table: 'idempotency', row: JSON.stringify([ownerId, key]), column: 'answer' };
}
