/** Snapshots as rows. Every method that writes has committed when its promise resolves. */
import { z } from 'zod';
import type { Allowance, Page, SnapshotPatch, SnapshotStore } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { type Database, isDuplicate, type Row, type SqlValue } from './database.ts';
import { QuotaGuard } from './within-quota.ts';

/** Columns by property, in the order of the table. */
const columns = {
  id: 'id',
  ownerId: 'owner_id',
  name: 'name',
  state: 'state',
  stateReason: 'state_reason',
  image: 'image',
  imageDigest: 'image_digest',
  entrypoint: 'entrypoint',
  resources: 'resources',
  regionId: 'region_id',
  sizeBytes: 'size_bytes',
  creationKey: 'creation_key',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const satisfies Record<keyof Snapshot, string>;

const properties = Object.keys(columns) as (keyof Snapshot)[];
const all = Object.values(columns).join(', ');

const entrypoint = z.array(z.string()).nullable();
const resources = z.strictObject({ cpu: z.int(), memory: z.int(), disk: z.int(), gpu: z.int() });

export class SnapshotRows implements SnapshotStore {
  readonly #database: Database;
  readonly #quota: QuotaGuard;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: Database) {
    this.#database = database;
    this.#quota = new QuotaGuard(database);
    this.#statements = prepare(database);
  }

  async insert(snapshot: Snapshot, allowance?: Allowance): Promise<void> {
    const { dropFailed, insert } = this.#statements;
    try {
      await this.#quota.write(allowance, () => {
        dropFailed.run({ owner: snapshot.ownerId, name: snapshot.name });
        insert.run(encode(snapshot));
      });
    } catch (error) {
      if (!isDuplicate(error, 'columns')) throw error;
      throw new SandhavenError('already_exists', `There is a snapshot named '${snapshot.name}' already.`, {
        parameter: 'name',
        hint: 'Choose another name. Only a snapshot in error is replaced.',
      });
    }
  }

  async find(ownerId: string, idOrName: string): Promise<Snapshot | null> {
    const { findById, findByName } = this.#statements;
    const statement = idOrName.startsWith('snap_') ? findById : findByName;
    return one(statement.get({ owner: ownerId, wanted: idOrName }));
  }

  async createdUnder(ownerId: string, creationKey: string, since: number): Promise<Snapshot | null> {
    return one(this.#statements.createdUnder.get({ owner: ownerId, key: creationKey, since }));
  }

  async list(ownerId: string, page: Page): Promise<{ snapshots: Snapshot[]; totalCount: number }> {
    const { count, list } = this.#statements;
    const window = { offset: (page.page - 1) * page.pageSize, limit: page.pageSize };
    return this.#database.read(() => ({
      snapshots: list.all({ owner: ownerId, ...window }).map(decode),
      totalCount: Number(count.get({ owner: ownerId })?.['count']),
    }));
  }

  async count(ownerId: string): Promise<number> {
    return Number(this.#statements.count.get({ owner: ownerId })?.['count']);
  }

  async unfinished(): Promise<Snapshot[]> {
    return this.#statements.unfinished.all().map(decode);
  }

  async update(id: string, patch: SnapshotPatch): Promise<Snapshot | null> {
    const values = encode(patch);
    const settings = Object.keys(values).map((column) => `${column} = :${column}`);
    const sql = `UPDATE snapshots SET ${settings.join(', ') || 'id = id'} WHERE id = :this_id RETURNING ${all}`;
    return this.#database.write(() => one(this.#database.prepare(sql).get({ ...values, this_id: id })));
  }

  async delete(id: string): Promise<boolean> {
    return this.#database.write(() => one(this.#statements.delete.get({ id })) !== null);
  }

  async imagesInUse(): Promise<Set<string>> {
    return new Set(this.#statements.imagesInUse.all().map((row) => String(row['image_digest'])));
  }
}

function prepare(database: Database) {
  const select = (where: string) => database.prepare(`SELECT ${all} FROM snapshots WHERE ${where}`);
  const values = Object.values(columns).map((name) => `:${name}`);
  return {
    dropFailed: database.prepare(
      `DELETE FROM snapshots WHERE owner_id = :owner AND name = :name AND state = 'error'`,
    ),
    delete: database.prepare(`DELETE FROM snapshots WHERE id = :id RETURNING ${all}`),
    insert: database.prepare(`INSERT INTO snapshots (${all}) VALUES (${values.join(', ')})`),
    findById: select('owner_id = :owner AND id = :wanted'),
    findByName: select('owner_id = :owner AND name = :wanted'),
    createdUnder: select(
      'owner_id = :owner AND creation_key = :key AND created_at >= :since ORDER BY created_at DESC LIMIT 1',
    ),
    count: database.prepare('SELECT count(*) AS count FROM snapshots WHERE owner_id = :owner'),
    list: select('owner_id = :owner ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset'),
    unfinished: select(`state IN ('pending', 'pulling') ORDER BY created_at, id`),
    imagesInUse: database.prepare(
      `SELECT image_digest FROM snapshots WHERE image_digest IS NOT NULL
       UNION SELECT image_digest FROM sandboxes`,
    ),
  };
}

function encode(snapshot: Partial<Snapshot>): Record<string, SqlValue> {
  const given = properties.filter((property) => Object.hasOwn(snapshot, property));
  return Object.fromEntries(
    given.map((property) => {
      const value = snapshot[property] ?? null;
      return [columns[property], typeof value === 'object' && value !== null ? JSON.stringify(value) : value];
    }),
  );
}

function one(row: Row | undefined): Snapshot | null {
  return row ? decode(row) : null;
}

/** The types and CHECKs of the schema guard simple values; JSON is validated. */
function decode(row: Row): Snapshot {
  const plain = Object.fromEntries(properties.map((property) => [property, row[columns[property]]]));
  try {
    return {
      ...plain,
      entrypoint: entrypoint.parse(JSON.parse(String(row['entrypoint'] ?? 'null'))),
      resources: resources.parse(JSON.parse(String(row['resources']))),
    } as Snapshot;
  } catch (cause) {
    throw new Error(`snapshot ${String(row['id'])} cannot be read`, { cause });
  }
}
