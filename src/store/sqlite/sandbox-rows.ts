/**
 * Sandboxes as rows. Every method that writes has committed when its promise resolves. Reads of background work (all,
 * schedulable, pool) return only rows that are on the disk, since that work acts on writes of others.
 */
import type { StatementSync } from 'node:sqlite';
import type {
  Allowance,
  Page,
  SandboxFilter,
  SandboxPatch,
  SandboxStore,
  Schedulable,
} from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { Usage } from '../../model/quota.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { Secrets } from '../secrets.ts';
import { type Database, isDuplicate, type Row } from './database.ts';
import { columnList, SandboxCodec } from './sandbox-columns.ts';
import { QuotaGuard } from './within-quota.ts';

const schedulableColumns = [
  'id',
  'state',
  'operation',
  'autoStopMinutes',
  'autoArchiveMinutes',
  'autoDeleteMinutes',
  'lastActivityAt',
  'stoppedAt',
] as const satisfies readonly (keyof Schedulable)[];

/** True when every wanted pair is among the labels. */
const HAS_LABELS = `NOT EXISTS (
  SELECT 1 FROM json_each(:labels) AS wanted WHERE NOT EXISTS (
    SELECT 1 FROM json_each(sandboxes.labels) AS label
    WHERE label.key = wanted.key AND label.value = wanted.value))`;
const VISIBLE = `owner_id = :owner AND operation IS NOT 'creating'`;
const LISTED = `${VISIBLE} AND (:state IS NULL OR state = :state) AND ${HAS_LABELS}`;
const READY_IN_POOL = `owner_id IS NULL AND operation IS NULL AND state = 'started'`;

export class SandboxRows implements SandboxStore {
  readonly #database: Database;
  readonly #quota: QuotaGuard;
  readonly #codec: SandboxCodec;
  readonly #statements: ReturnType<typeof prepare>;
  /** Prepared updates by the columns that they set; one for each kind of change in the code. */
  readonly #updates = new Map<string, StatementSync>();

  constructor(database: Database, secrets: Secrets) {
    this.#database = database;
    this.#quota = new QuotaGuard(database);
    this.#codec = new SandboxCodec(secrets);
    this.#statements = prepare(database);
  }

  async insert(sandbox: Sandbox, allowance?: Allowance): Promise<void> {
    const row = this.#codec.encode(sandbox.id, sandbox);
    const insert = () => this.#statements.insert.run(row);
    await refusingTakenName(sandbox.name, () => this.#quota.write(allowance, insert));
  }

  async get(id: string): Promise<Sandbox | null> {
    return this.#one(this.#statements.get.get({ id }));
  }

  async find(ownerId: string, idOrName: string): Promise<Sandbox | null> {
    const { findById, findByName } = this.#statements;
    const statement = idOrName.startsWith('sb_') ? findById : findByName;
    return this.#one(statement.get({ owner: ownerId, wanted: idOrName }));
  }

  async list(filter: SandboxFilter, page: Page): Promise<{ sandboxes: Sandbox[]; totalCount: number }> {
    const { count, list } = this.#statements;
    const where = {
      owner: filter.ownerId,
      state: filter.state ?? null,
      labels: JSON.stringify(filter.labels ?? {}),
    };
    const window = { offset: (page.page - 1) * page.pageSize, limit: page.pageSize };
    return this.#database.read(() => ({
      sandboxes: this.#many(list.all({ ...where, ...window })),
      totalCount: Number(count.get(where)?.['count']),
    }));
  }

  async names(ownerId: string, limit: number): Promise<{ id: string; name: string }[]> {
    const rows = this.#statements.names.all({ owner: ownerId, limit });
    return rows.map((row) => this.#codec.decodeOnly(row, ['id', 'name']));
  }

  async createdUnder(ownerId: string, creationKey: string, since: number): Promise<Sandbox | null> {
    return this.#one(this.#statements.createdUnder.get({ owner: ownerId, key: creationKey, since }));
  }

  async all(): Promise<Sandbox[]> {
    await this.#database.settled();
    return this.#many(this.#statements.all.all());
  }

  async schedulable(): Promise<Schedulable[]> {
    await this.#database.settled();
    const rows = this.#statements.schedulable.all();
    return rows.map((row) => this.#codec.decodeOnly(row, schedulableColumns));
  }

  async pool(): Promise<Sandbox[]> {
    await this.#database.settled();
    return this.#many(this.#statements.pool.all());
  }

  async claim(
    match: { imageDigest: string; diskGb: number },
    patch: SandboxPatch,
    allowance?: Allowance,
  ): Promise<Sandbox | null> {
    const { firstInPool } = this.#statements;
    return refusingTakenName(patch.name, () =>
      this.#quota.write(allowance, () => {
        const found = firstInPool.get({ image_digest: match.imageDigest, disk: match.diskGb });
        if (!found) return null;
        const { id, generation } = this.#codec.decodeOnly(found, ['id', 'generation']);
        return this.#change(id, generation, patch);
      }),
    );
  }

  async update(
    id: string,
    generation: number,
    patch: SandboxPatch,
    allowance?: Allowance,
  ): Promise<Sandbox | null> {
    return refusingTakenName(patch.name, () =>
      this.#quota.write(allowance, () => this.#change(id, generation, patch)),
    );
  }

  async usage(ownerId: string): Promise<Omit<Usage, 'snapshots'>> {
    const { snapshots: _, ...usage } = this.#quota.usage(ownerId);
    return usage;
  }

  async promisedDiskGb(): Promise<number> {
    return this.#quota.promisedDiskGb();
  }

  async remove(id: string, generation: number): Promise<boolean> {
    const { changes } = await this.#database.write(() => this.#statements.remove.run({ id, generation }));
    return changes === 1;
  }

  async touch(activity: Map<string, number>): Promise<void> {
    if (activity.size === 0) return;
    await this.#database.write(() => {
      for (const [id, at] of activity) this.#statements.touch.run({ id, at });
    });
  }

  #change(id: string, generation: number, patch: SandboxPatch): Sandbox | null {
    const values = this.#codec.encode(id, patch);
    if ('id' in values) throw new Error('the id of a sandbox never changes');
    const statement = this.#updateOf(Object.keys(values));
    return this.#one(statement.get({ ...values, this_id: id, this_generation: generation }));
  }

  #updateOf(columns: string[]): StatementSync {
    const settings = columns.map((column) => `${column} = :${column}`).join(', ') || 'id = id';
    let statement = this.#updates.get(settings);
    if (!statement) {
      statement = this.#database.prepare(
        `UPDATE sandboxes SET ${settings} WHERE id = :this_id AND generation = :this_generation
         RETURNING ${columnList()}`,
      );
      this.#updates.set(settings, statement);
    }
    return statement;
  }

  #one(row: Row | undefined): Sandbox | null {
    return row ? this.#codec.decode(row) : null;
  }

  #many(rows: Row[]): Sandbox[] {
    return rows.map((row) => this.#codec.decode(row));
  }
}

function prepare(database: Database) {
  const all = columnList();
  const names = all.split(', ');
  const select = (where: string, columns = all) =>
    database.prepare(`SELECT ${columns} FROM sandboxes WHERE ${where}`);
  return {
    insert: database.prepare(
      `INSERT INTO sandboxes (${all}) VALUES (${names.map((name) => `:${name}`).join(', ')})`,
    ),
    get: select('id = :id'),
    findById: select(`${VISIBLE} AND id = :wanted`),
    findByName: select(`${VISIBLE} AND name = :wanted`),
    count: select(LISTED, 'count(*) AS count'),
    list: select(`${LISTED} ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset`),
    names: select(`${VISIBLE} ORDER BY name LIMIT :limit`, columnList(['id', 'name'])),
    createdUnder: select(
      `${VISIBLE} AND creation_key = :key AND created_at >= :since ORDER BY created_at DESC LIMIT 1`,
    ),
    all: select('true ORDER BY created_at, id'),
    schedulable: select('owner_id IS NOT NULL AND operation IS NULL', columnList(schedulableColumns)),
    pool: select(`${READY_IN_POOL} ORDER BY created_at, id`),
    firstInPool: select(
      `${READY_IN_POOL} AND image_digest = :image_digest AND resources ->> 'disk' = :disk
       ORDER BY created_at, id LIMIT 1`,
      columnList(['id', 'generation']),
    ),
    remove: database.prepare('DELETE FROM sandboxes WHERE id = :id AND generation = :generation'),
    touch: database.prepare(
      'UPDATE sandboxes SET last_activity_at = :at WHERE id = :id AND last_activity_at < :at',
    ),
  };
}

async function refusingTakenName<T>(name: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDuplicate(error, 'columns')) throw error;
    throw new SandhavenError('already_exists', `There is a sandbox named '${name}' already.`, {
      parameter: 'name',
      hint: 'Choose another name, or delete that sandbox first.',
    });
  }
}
