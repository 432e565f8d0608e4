/**
 * Secrets of owners and of the service as rows. Values are sealed; `opened` alone opens those of owners. Every method
 * that writes has committed when its promise resolves.
 */
import { z } from 'zod';
import type { NewSecret, SecretPatch, SecretStore, ServiceSecretStore } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Secret } from '../../model/secrets/secret.ts';
import type { Secrets } from '../files/secrets.ts';
import { type Row, type Sql, statement, type Work } from '../sql/sql.ts';

const texts = z.array(z.string());

export class SecretRows implements SecretStore {
  readonly #sql: Sql;
  readonly #secrets: Secrets;

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#secrets = secrets;
  }

  async insert(secret: NewSecret, value: string | null): Promise<Secret> {
    const { id, ownerId: owner, name, variable, place, provider, createdAt: now, expiresAt } = secret;
    const row = {
      ...{ id, owner, name, variable, place, provider, now },
      ...{ targets: JSON.stringify(secret.targets), expires: expiresAt },
      value: value === null ? NO_VALUE : this.#secrets.seal(value, placeOf(id)),
    };
    const { count, insert } = statements;
    const work = function* (): Work<Secret> {
      const stored = Number((yield* count.get({ owner }))?.['count']);
      if (stored >= limits.secrets.perOwner) throw tooMany();
      return secretIn(yield* insert.get(row));
    };
    return this.#refusingTakenName(name, () => this.#sql.write(`secrets of ${owner}`, work, owner));
  }

  async list(ownerId: string): Promise<Secret[]> {
    const rows = await this.#sql.read(() => statements.list.all({ owner: ownerId }), ownerId);
    return rows.map(secretIn);
  }

  async find(ownerId: string, idOrName: string): Promise<Secret | null> {
    const values = { owner: ownerId, wanted: idOrName };
    const row = await this.#sql.read(() => statements.find.get(values), ownerId);
    return row ? secretIn(row) : null;
  }

  async some(ownerId: string, ids: readonly string[]): Promise<Secret[]> {
    const values = { owner: ownerId, ids: JSON.stringify(ids) };
    return (await this.#sql.read(() => statements.some.all(values), ownerId)).map(secretIn);
  }

  async opened(ownerId: string, ids: readonly string[]): Promise<{ secret: Secret; value: string | null }[]> {
    const values = { owner: ownerId, ids: JSON.stringify(ids) };
    const rows = await this.#sql.read(() => statements.sealed.all(values), ownerId);
    return rows.map((row) => {
      const secret = secretIn(row);
      const value = secret.provider === null ? this.#secrets.open(row['value'], placeOf(secret.id)) : null;
      return { secret, value };
    });
  }

  async update(id: string, patch: SecretPatch, now: number): Promise<Secret | null> {
    return this.#changed({ id, now, ...columnsOf(patch), value: null });
  }

  async rotate(id: string, value: string, patch: SecretPatch, now: number): Promise<Secret | null> {
    const sealed = this.#secrets.seal(value, placeOf(id));
    return this.#changed({ id, now, ...columnsOf(patch), value: sealed });
  }

  async remove(id: string): Promise<boolean> {
    return (await this.#sql.writeOne(() => statements.remove.run({ id }))) === 1;
  }

  async holders(ownerId: string, id: string): Promise<string[]> {
    const values = { owner: ownerId, holding: `%"${id}"%` };
    const rows = await this.#sql.read(() => statements.holders.all(values), ownerId);
    return rows.map((row) => String(row['id']));
  }

  async providerOwners(provider: string): Promise<string[]> {
    const rows = await this.#sql.read(() => statements.providerOwners.all({ provider }));
    return rows.map((row) => String(row['owner_id']));
  }

  async noteUses(uses: ReadonlyMap<string, number>): Promise<void> {
    await this.#sql.write('uses of secrets', function* () {
      for (const [id, at] of uses) yield* statements.use.run({ id, at });
    });
  }

  async #changed(values: Record<string, string | number | null | Uint8Array>): Promise<Secret | null> {
    const row = await this.#sql.writeOne(() => statements.change.get(values));
    return row ? secretIn(row) : null;
  }

  async #refusingTakenName<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!this.#sql.isDuplicate(error, 'columns')) throw error;
      throw new SandhavenError('already_exists', `There is a secret named '${name}' already.`, {
        parameter: 'name',
        hint: 'Choose another name, or give that one another value: RotateSecret.',
      });
    }
  }
}

/** Stored in place of the value of a provider's secret. */
const NO_VALUE = new Uint8Array(0);
const columns = `id, owner_id, name, variable, targets, place, provider, created_at, updated_at, rotated_at,
  expires_at, last_used_at`;
/** Ids have no character that LIKE takes for another, but `_`. */
const AMONG = `owner_id = :owner AND :ids LIKE '%"' || id || '"%'`;

const statements = {
  insert: statement(
    `INSERT INTO secrets (${columns}, value)
       VALUES (:id, :owner, :name, :variable, :targets, :place, :provider, :now, :now, :now, :expires, NULL, :value)
       RETURNING ${columns}`,
  ),
  count: statement('SELECT count(*) AS count FROM secrets WHERE owner_id = :owner'),
  list: statement(`SELECT ${columns} FROM secrets WHERE owner_id = :owner ORDER BY name`),
  find: statement(
    `SELECT ${columns} FROM secrets WHERE owner_id = :owner AND (id = :wanted OR name = :wanted)`,
  ),
  some: statement(`SELECT ${columns} FROM secrets WHERE ${AMONG} ORDER BY name`),
  sealed: statement(`SELECT ${columns}, value FROM secrets WHERE ${AMONG} ORDER BY name`),
  change: statement(
    `UPDATE secrets SET variable = coalesce(:variable, variable), targets = coalesce(:targets, targets),
         expires_at = CASE WHEN :expires_changed = 1 THEN :expires ELSE expires_at END,
         value = coalesce(:value, value), updated_at = :now,
         rotated_at = CASE WHEN :value IS NULL THEN rotated_at ELSE :now END
       WHERE id = :id RETURNING ${columns}`,
  ),
  remove: statement('DELETE FROM secrets WHERE id = :id'),
  use: statement(
    `UPDATE secrets SET last_used_at = :at WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :at)`,
  ),
  holders: statement(
    `SELECT id FROM sandboxes WHERE owner_id = :owner AND secrets LIKE :holding
       AND operation IS DISTINCT FROM 'creating' ORDER BY created_at, id`,
  ),
  providerOwners: statement(
    `SELECT DISTINCT secrets.owner_id FROM secrets JOIN sandboxes ON sandboxes.owner_id = secrets.owner_id
       WHERE secrets.provider = :provider AND sandboxes.state = 'started'
         AND sandboxes.secrets LIKE '%"' || secrets.id || '"%'
       ORDER BY secrets.owner_id`,
  ),
};

function columnsOf({ variable, targets, expiresAt }: SecretPatch) {
  return {
    ...{ variable: variable ?? null, targets: targets === undefined ? null : JSON.stringify(targets) },
    ...{ expires: expiresAt ?? null, expires_changed: expiresAt === undefined ? 0 : 1 },
  };
}

function secretIn(row: Row | undefined): Secret {
  if (row === undefined) throw new Error('the secret is gone within its transaction');
  return {
    id: String(row['id']),
    ownerId: String(row['owner_id']),
    name: String(row['name']),
    variable: String(row['variable']),
    targets: texts.parse(JSON.parse(String(row['targets']))),
    place: String(row['place']),
    provider: row['provider'] === null ? null : String(row['provider']),
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    rotatedAt: Number(row['rotated_at']),
    expiresAt: row['expires_at'] === null ? null : Number(row['expires_at']),
    lastUsedAt: row['last_used_at'] === null ? null : Number(row['last_used_at']),
  };
}

function tooMany(): SandhavenError {
  return new SandhavenError(
    'resource_exhausted',
    `There are ${limits.secrets.perOwner} secrets of this owner already.`,
    { hint: 'Delete one that is no longer needed: DeleteSecret.' },
  );
}

function placeOf(id: string) {
  return { table: 'secrets', row: id, column: 'value' };
}

/** Secrets of the service as rows, sealed. A row is written once. */
export class ServiceSecretRows implements ServiceSecretStore {
  readonly #sql: Sql;
  readonly #secrets: Secrets;

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#secrets = secrets;
  }

  async getOrCreate(name: string, make: () => string): Promise<string> {
    const row =
      (await this.#sql.read(() => serviceStatements.get.get({ name }))) ?? (await this.#add(name, make()));
    return this.#secrets.open(row?.['box'], placeOfService(name));
  }

  /** Returns the row that is there then. */
  async #add(name: string, secret: string) {
    const box = this.#secrets.seal(secret, placeOfService(name));
    return this.#sql.write('service secrets', function* () {
      yield* serviceStatements.add.run({ name, box });
      return yield* serviceStatements.get.get({ name });
    });
  }
}

const serviceStatements = {
  get: statement('SELECT box FROM service_secrets WHERE name = :name'),
  add: statement(
    'INSERT INTO service_secrets (name, box) VALUES (:name, :box) ON CONFLICT (name) DO NOTHING',
  ),
};

function placeOfService(name: string) {
  return { table: 'service_secrets', row: name, column: 'box' };
}
