/**
 * Access tokens of the gateways as rows. Only the SHA-256 of a token is stored. Lookup is by hash, so the time of a
 * wrong token reveals nothing; the found hash is compared whole, in constant time. A sandbox whose previews were
 * never revoked has no row of epochs.
 */
import { timingSafeEqual } from 'node:crypto';
import type { AccessKind, AccessToken, AccessTokenStore } from '../../control/ports/index.ts';
import { notFound } from '../../model/errors.ts';
import type { PublicPorts, WayInside } from '../../model/sandbox-access.ts';
import { type Row, type Sql, statement, type Work } from '../sql/sql.ts';

export class AccessTokenRows implements AccessTokenStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async insert(token: AccessToken): Promise<void> {
    const { id, sandboxId, kind, port, hash, createdAt, expiresAt } = token;
    const row = { id, sandbox: sandboxId, kind, port, hash, created: createdAt, expires: expiresAt };
    await this.#sql.writeOne(function* () {
      if ((yield* statements.insert.run(row)) === 1) return;
      throw notFound('sandbox', 'The sandbox was deleted.', 'Create another sandbox.');
    });
  }

  async byHash(kind: AccessKind, hash: Buffer): Promise<AccessToken | null> {
    const row = await this.#sql.read(() => statements.byHash.get({ kind, hash }));
    if (!row || !timingSafeEqual(row['hash'] as Uint8Array, hash)) return null;
    return tokenOf(row);
  }

  async count(sandboxId: string, kind: AccessKind, now: number): Promise<number> {
    return this.#sql.read(() => count(sandboxId, kind, now));
  }

  async prune(now: number): Promise<void> {
    await this.#sql.writeOne(() => statements.prune.run({ now }));
  }

  async revoke(
    sandboxId: string,
    kinds: readonly WayInside[],
    now: number,
  ): Promise<Record<AccessKind, number>> {
    return this.#sql.write(`access of ${sandboxId}`, function* () {
      const revoked = { ssh: 0, preview: 0 };
      for (const kind of kinds) {
        if (kind === 'token') continue;
        revoked[kind] = yield* count(sandboxId, kind, now);
        yield* statements.remove.run({ sandbox: sandboxId, kind });
      }
      if (kinds.includes('preview')) yield* statements.raiseEpoch.run({ sandbox: sandboxId });
      if (kinds.includes('token')) yield* statements.raiseTokens.run({ sandbox: sandboxId });
      return revoked;
    });
  }

  async remove(sandboxId: string, hash: Buffer): Promise<AccessToken | null> {
    const row = await this.#sql.writeOne(() => statements.removeOne.get({ sandbox: sandboxId, hash }));
    return row ? tokenOf(row) : null;
  }

  async previewEpoch(sandboxId: string): Promise<number> {
    return (await this.#epochs(sandboxId)).preview;
  }

  async signingEpoch(sandboxId: string): Promise<string> {
    const { preview, signing } = await this.#epochs(sandboxId);
    return `${preview} ${signing}`;
  }

  async raiseSigningEpoch(sandboxId: string): Promise<void> {
    await this.#sql.writeOne(() => statements.raiseSigning.run({ sandbox: sandboxId }));
  }

  async tokenEpoch(sandboxId: string): Promise<number> {
    return (await this.#epochs(sandboxId)).token;
  }

  async publicPorts(sandboxId: string): Promise<PublicPorts> {
    return (await this.#epochs(sandboxId)).ports;
  }

  async setPublicPorts(sandboxId: string, ports: PublicPorts): Promise<void> {
    const text = ports.length === 0 ? null : JSON.stringify(ports);
    await this.#sql.writeOne(() => statements.setPublic.run({ sandbox: sandboxId, ports: text }));
  }

  async #epochs(sandbox: string) {
    const row = await this.#sql.read(() => statements.epochs.get({ sandbox }));
    return {
      preview: Number(row?.['epoch'] ?? 0),
      signing: Number(row?.['signing'] ?? 0),
      token: Number(row?.['tokens'] ?? 0),
      ports: JSON.parse(String(row?.['public'] ?? '[]')) as PublicPorts,
    };
  }
}

const statements = {
  insert: statement(
    `INSERT INTO access_tokens (id, sandbox_id, kind, port, hash, created_at, expires_at)
       SELECT :id, id, :kind, :port, :hash, :created, :expires FROM sandboxes WHERE id = :sandbox`,
  ),
  byHash: statement('SELECT * FROM access_tokens WHERE kind = :kind AND hash = :hash'),
  count: statement(
    `SELECT count(*) AS count FROM access_tokens
       WHERE sandbox_id = :sandbox AND kind = :kind AND (expires_at IS NULL OR expires_at > :now)`,
  ),
  prune: statement('DELETE FROM access_tokens WHERE expires_at <= :now'),
  remove: statement('DELETE FROM access_tokens WHERE sandbox_id = :sandbox AND kind = :kind'),
  removeOne: statement('DELETE FROM access_tokens WHERE sandbox_id = :sandbox AND hash = :hash RETURNING *'),
  raiseEpoch: statement(
    `INSERT INTO preview_epochs (sandbox_id, epoch) SELECT id, 1 FROM sandboxes WHERE id = :sandbox
       ON CONFLICT (sandbox_id) DO UPDATE SET epoch = preview_epochs.epoch + 1, public = NULL`,
  ),
  raiseSigning: statement(
    `INSERT INTO preview_epochs (sandbox_id, epoch, signing) SELECT id, 0, 1 FROM sandboxes WHERE id = :sandbox
       ON CONFLICT (sandbox_id) DO UPDATE SET signing = preview_epochs.signing + 1`,
  ),
  raiseTokens: statement(
    `INSERT INTO preview_epochs (sandbox_id, epoch, tokens) SELECT id, 0, 1 FROM sandboxes WHERE id = :sandbox
       ON CONFLICT (sandbox_id) DO UPDATE SET tokens = preview_epochs.tokens + 1`,
  ),
  setPublic: statement(
    `INSERT INTO preview_epochs (sandbox_id, epoch, public) SELECT id, 0, :ports FROM sandboxes WHERE id = :sandbox
       ON CONFLICT (sandbox_id) DO UPDATE SET public = excluded.public`,
  ),
  epochs: statement('SELECT epoch, signing, tokens, public FROM preview_epochs WHERE sandbox_id = :sandbox'),
};

function* count(sandboxId: string, kind: AccessKind, now: number): Work<number> {
  const row = yield* statements.count.get({ sandbox: sandboxId, kind, now });
  return Number(row?.['count']);
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
