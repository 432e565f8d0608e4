/** Snapshots as rows. Every method that writes has committed when its promise resolves. */
import { z } from 'zod';
import type { Allowance, Page, SnapshotPatch, SnapshotStore } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { type Row, type Sql, type SqlValues, statement } from '../sql/sql.ts';
import { imageConfigSchema, networkSchema } from './sandbox-columns.ts';
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
  network: 'network',
  user: 'linux_user',
  source: 'source',
  imageConfig: 'image_config',
} as const satisfies Record<keyof Snapshot, string>;

const UNFINISHED = `state IN ('pending', 'pulling')`;

const properties = Object.keys(columns) as (keyof Snapshot)[];
const all = Object.values(columns).join(', ');

const entrypoint = z.array(z.string()).nullable();
const source = z.strictObject({ id: z.string(), name: z.string() }).nullable();
const resources = z.strictObject({ cpu: z.int(), memory: z.int(), disk: z.int(), gpu: z.int() });

export class SnapshotRows implements SnapshotStore {
  readonly #sql: Sql;
  readonly #quota: QuotaGuard;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#quota = new QuotaGuard(sql);
  }

  async insert(snapshot: Snapshot, allowance?: Allowance, replacedId?: string): Promise<void> {
    const { ownerId, name } = snapshot;
    try {
      await this.#quota.write(
        allowance,
        `snapshots of ${ownerId}`,
        function* () {
          yield* statements.dropFailed.run({ owner: ownerId, name });
          if (replacedId !== undefined) yield* statements.delete.run({ id: replacedId });
          yield* statements.insert.run(encode(snapshot));
        },
        ownerId,
      );
    } catch (error) {
      if (!this.#sql.isDuplicate(error, 'columns')) throw error;
      throw new SandhavenError('already_exists', `There is a snapshot named '${name}' already.`, {
        parameter: 'name',
        hint: 'Choose another name. Only a snapshot in error is replaced.',
      });
    }
  }

  async give(id: string, ownerId: string, now: number, allowance?: Allowance): Promise<Snapshot | null> {
    const give = () => statements.give.get({ id, owner: ownerId, now });
    try {
      return one(await this.#quota.writeOne(allowance, give, ownerId));
    } catch (error) {
      if (!this.#sql.isDuplicate(error, 'columns')) throw error;
      throw new SandhavenError('already_exists', 'The new owner has a snapshot of this name already.');
    }
  }

  async find(ownerId: string, idOrName: string): Promise<Snapshot | null> {
    const find = idOrName.startsWith('snap_') ? statements.findById : statements.findByName;
    return one(await this.#sql.read(() => find.get({ owner: ownerId, wanted: idOrName }), ownerId));
  }

  async createdUnder(ownerId: string, creationKey: string, since: number): Promise<Snapshot | null> {
    const values = { owner: ownerId, key: creationKey, since };
    return one(await this.#sql.read(() => statements.createdUnder.get(values), ownerId));
  }

  async list(ownerId: string, page: Page): Promise<{ snapshots: Snapshot[]; totalCount: number }> {
    const { count, list } = statements;
    const window = { offset: (page.page - 1) * page.pageSize, limit: page.pageSize };
    return this.#sql.readTogether(function* () {
      const snapshots = (yield* list.all({ owner: ownerId, ...window })).map(decode);
      return { snapshots, totalCount: Number((yield* count.get({ owner: ownerId }))?.['count']) };
    }, ownerId);
  }

  async count(ownerId: string): Promise<number> {
    const row = await this.#sql.read(() => statements.count.get({ owner: ownerId }), ownerId);
    return Number(row?.['count']);
  }

  async unfinished(): Promise<Snapshot[]> {
    return (await this.#sql.read(() => statements.unfinished.all())).map(decode);
  }

  async update(id: string, patch: SnapshotPatch): Promise<Snapshot | null> {
    const values = encode(patch);
    const settings = Object.keys(values).map((column) => `${column} = :${column}`);
    const sql = `UPDATE snapshots SET ${settings.join(', ') || 'id = id'} WHERE id = :this_id AND ${UNFINISHED} RETURNING ${all}`;
    return one(await this.#sql.writeOne(() => statement(sql).get({ ...values, this_id: id })));
  }

  async setNetwork(id: string, network: Snapshot['network'], now: number): Promise<Snapshot | null> {
    const values = { id, now, ...encode({ network }) };
    return one(await this.#sql.writeOne(() => statements.setNetwork.get(values)));
  }

  async withDisks(): Promise<Set<string>> {
    const rows = await this.#sql.read(() => statements.withDisks.all());
    return new Set(rows.map((row) => String(row['id'])));
  }

  async delete(id: string): Promise<boolean> {
    return (await this.#sql.writeOne(() => statements.delete.run({ id }))) > 0;
  }

  async imagesInUse(): Promise<Set<string>> {
    const rows = await this.#sql.read(() => statements.imagesInUse.all());
    return new Set(rows.map((row) => String(row['image_digest'])));
  }
}

const select = (where: string) => statement(`SELECT ${all} FROM snapshots WHERE ${where}`);
const inserted = Object.values(columns).map((name) => `:${name}`);
const statements = {
  dropFailed: statement(`DELETE FROM snapshots WHERE owner_id = :owner AND name = :name AND state = 'error'`),
  setNetwork: statement(
    `UPDATE snapshots SET network = :network, updated_at = :now WHERE id = :id RETURNING ${all}`,
  ),
  give: statement(
    `UPDATE snapshots SET owner_id = :owner, creation_key = NULL, updated_at = :now
       WHERE id = :id AND state = 'active' RETURNING ${all}`,
  ),
  delete: statement(`DELETE FROM snapshots WHERE id = :id`),
  insert: statement(`INSERT INTO snapshots (${all}) VALUES (${inserted.join(', ')})`),
  findById: select('owner_id = :owner AND id = :wanted'),
  findByName: select('owner_id = :owner AND name = :wanted'),
  createdUnder: select(
    'owner_id = :owner AND creation_key = :key AND created_at >= :since ORDER BY created_at DESC LIMIT 1',
  ),
  count: statement('SELECT count(*) AS count FROM snapshots WHERE owner_id = :owner'),
  list: select('owner_id = :owner ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset'),
  unfinished: select(`${UNFINISHED} ORDER BY created_at, id`),
  withDisks: statement(
    'SELECT id FROM snapshots WHERE source IS NOT NULL UNION SELECT capture_id FROM build_steps',
  ),
  imagesInUse: statement(
    `SELECT image_digest FROM snapshots WHERE image_digest IS NOT NULL
       UNION SELECT image_digest FROM sandboxes`,
  ),
};

function encode(snapshot: Partial<Snapshot>): SqlValues {
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
      imageConfig: imageConfigSchema.nullable().parse(JSON.parse(String(row['image_config'] ?? 'null'))),
      source: source.parse(JSON.parse(String(row['source'] ?? 'null'))),
      network: networkSchema.nullable().parse(JSON.parse(String(row['network'] ?? 'null'))),
    } as Snapshot;
  } catch (cause) {
    throw new Error(`snapshot ${String(row['id'])} cannot be read`, { cause });
  }
}
