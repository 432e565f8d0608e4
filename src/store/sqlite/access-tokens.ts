/**
 * Access tokens of the gateways as rows. Only the SHA-256 of a token is stored. Lookup is by hash, so the time of a
 * wrong token reveals nothing; the found hash is compared whole, in constant time. A sandbox whose previews were
 * never revoked has no row of epochs.
 */
import { timingSafeEqual } from 'node:crypto';
import type { AccessKind, AccessToken, AccessTokenStore } from '../../control/ports/index.ts';
import { notFound } from '../../model/errors.ts';
import type { Database, Row } from './database.ts';

export class AccessTokenRows implements AccessTokenStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepare(database);
  }

  async insert(token: AccessToken): Promise<void> {
    const { id, sandboxId, kind, port, hash, createdAt, expiresAt } = token;
    const row = { id, sandbox: sandboxId, kind, port, hash, created: createdAt, expires: expiresAt };
    await this.#database.write(() => {
      if (!this.#statements.sandbox.get({ sandbox: sandboxId })) {
        throw notFound('sandbox', 'The sandbox was deleted.', 'Create another sandbox.');
      }
      this.#statements.insert.run(row);
    });
  }

  async byHash(kind: AccessKind, hash: Buffer): Promise<AccessToken | null> {
    const row = this.#statements.byHash.get({ kind, hash });
    if (!row || !timingSafeEqual(row['hash'] as Uint8Array, hash)) return null;
    return tokenOf(row);
  }

  async count(sandboxId: string, kind: AccessKind, now: number): Promise<number> {
    return this.#count(sandboxId, kind, now);
  }

  async prune(now: number): Promise<void> {
    await this.#database.write(() => this.#statements.prune.run({ now }));
  }

  async revoke(
    sandboxId: string,
    kinds: readonly AccessKind[],
    now: number,
  ): Promise<Record<AccessKind, number>> {
    const revoked = { ssh: 0, preview: 0 };
    await this.#database.write(() => {
      for (const kind of kinds) {
        revoked[kind] = this.#count(sandboxId, kind, now);
        this.#statements.remove.run({ sandbox: sandboxId, kind });
      }
      if (kinds.includes('preview')) this.#statements.raiseEpoch.run({ sandbox: sandboxId });
    });
    return revoked;
  }

  async previewEpoch(sandboxId: string): Promise<number> {
    return Number(this.#statements.epoch.get({ sandbox: sandboxId })?.['epoch'] ?? 0);
  }

  #count(sandboxId: string, kind: AccessKind, now: number): number {
    return Number(this.#statements.count.get({ sandbox: sandboxId, kind, now })?.['count']);
  }
}

function prepare(database: Database) {
  return {
    sandbox: database.prepare('SELECT 1 FROM sandboxes WHERE id = :sandbox'),
    insert: database.prepare(
      `INSERT INTO access_tokens (id, sandbox_id, kind, port, hash, created_at, expires_at)
       VALUES (:id, :sandbox, :kind, :port, :hash, :created, :expires)`,
    ),
    byHash: database.prepare('SELECT * FROM access_tokens WHERE kind = :kind AND hash = :hash'),
    count: database.prepare(
      `SELECT count(*) AS count FROM access_tokens
       WHERE sandbox_id = :sandbox AND kind = :kind AND (expires_at IS NULL OR expires_at > :now)`,
    ),
    prune: database.prepare('DELETE FROM access_tokens WHERE expires_at <= :now'),
    remove: database.prepare('DELETE FROM access_tokens WHERE sandbox_id = :sandbox AND kind = :kind'),
    raiseEpoch: database.prepare(
      `INSERT INTO preview_epochs (sandbox_id, epoch) SELECT id, 1 FROM sandboxes WHERE id = :sandbox
       ON CONFLICT (sandbox_id) DO UPDATE SET epoch = epoch + 1`,
    ),
    epoch: database.prepare('SELECT epoch FROM preview_epochs WHERE sandbox_id = :sandbox'),
  };
}

function tokenOf(row: Row): AccessToken {
  return {
    id: String(row['id']),
    sandboxId: String(row['sandbox_id']),
    kind: row['kind'] as AccessKind,
    port: row['port'] as number | null,
    hash: Buffer.from(row['hash'] as Uint8Array),
    createdAt: Number(row['created_at']),
    expiresAt: row['expires_at'] as number | null,
  };
}
