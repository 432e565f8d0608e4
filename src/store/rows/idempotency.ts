/**
 * Answers of calls with an Idempotency-Key, as rows. They are sealed, digests included: a request may hold secrets,
 * and a plain digest lets an attacker guess a short one.
 */
import { z } from 'zod';
import type { IdempotencyStore } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import type { Secrets } from '../files/secrets.ts';
import { type Row, type Sql, statement } from '../sql/sql.ts';

const answer = z.strictObject({ requestDigest: z.string(), result: z.unknown() });

export class IdempotencyRows implements IdempotencyStore {
  readonly #sql: Sql;
  readonly #secrets: Secrets;

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#secrets = secrets;
  }

  async get(ownerId: string, key: string): Promise<{ requestDigest: string; result: unknown } | null> {
    const row = await this.#sql.read(() => statements.get.get({ owner: ownerId, key }), ownerId);
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
    await this.#sql.write(
      `answers of ${ownerId}`,
      function* () {
        yield* statements.put.run({ owner: ownerId, key, now, answer: sealed });
        yield* statements.forget.run({ owner: ownerId, kept: limits.idempotencyKeptPerOwner });
      },
      ownerId,
    );
  }

  async hold(ownerId: string, key: string, replica: string, dead: string | null): Promise<string> {
    const row = { owner: ownerId, key, replica };
    const taken = holderIn(await this.#sql.writeOne(() => statements.hold.get({ ...row, dead })));
    if (taken !== null) return taken;
    const holder = holderIn(await this.#sql.read(() => statements.holder.get({ owner: ownerId, key })));
    // Released in between.
    return holder ?? this.hold(ownerId, key, replica, dead);
  }

  async release(ownerId: string, key: string, replica: string): Promise<void> {
    await this.#sql.writeOne(() => statements.release.run({ owner: ownerId, key, replica }));
  }

  async prune(olderThan: number): Promise<void> {
    await this.#sql.writeOne(() => statements.prune.run({ older_than: olderThan }));
    await this.#sql.writeOne(() => statements.pruneHeld.run());
  }
}

const statements = {
  get: statement('SELECT answer FROM idempotency WHERE owner_id = :owner AND key = :key'),
  put: statement(
    `INSERT INTO idempotency (owner_id, key, created_at, answer) VALUES (:owner, :key, :now, :answer)
       ON CONFLICT DO NOTHING`,
  ),
  forget: statement(
    `DELETE FROM idempotency WHERE rowid IN (SELECT rowid FROM idempotency WHERE owner_id = :owner
       ORDER BY created_at DESC, rowid DESC LIMIT 1000 OFFSET :kept)`,
  ),
  hold: statement(
    `INSERT INTO idempotency_held (owner_id, key, holder) VALUES (:owner, :key, :replica)
       ON CONFLICT (owner_id, key) DO UPDATE SET holder = excluded.holder
         WHERE idempotency_held.holder = excluded.holder OR idempotency_held.holder = :dead
       RETURNING holder`,
  ),
  holder: statement('SELECT holder FROM idempotency_held WHERE owner_id = :owner AND key = :key'),
  release: statement(
    'DELETE FROM idempotency_held WHERE owner_id = :owner AND key = :key AND holder = :replica',
  ),
  pruneHeld: statement('DELETE FROM idempotency_held WHERE holder NOT IN (SELECT id FROM replicas)'),
  prune: statement('DELETE FROM idempotency WHERE created_at < :older_than'),
};

function holderIn(row: Row | undefined): string | null {
  return row ? String(row['holder']) : null;
}

function placeOf(ownerId: string, key: string) {
  return { table: 'idempotency', row: JSON.stringify([ownerId, key]), column: 'answer' };
}
