/**
 * Sandboxes as rows. Every method that writes has committed when its promise resolves. Reads of background work (all,
 * comparable, inProgress, schedulable, archives, pool) return only rows that are on the disk, since that work acts on writes of others.
 */
import type {
  Allowance,
  Comparable,
  InProgress,
  Page,
  SandboxFilter,
  SandboxPatch,
  SandboxStore,
  Schedulable,
} from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { Usage } from '../../model/quota.ts';
import type { ArchiveRecord, Sandbox } from '../../model/sandbox.ts';
import type { Secrets } from '../files/secrets.ts';
import { type Dialect, type Row, type Sql, type Statement, statement, type Work } from '../sql/sql.ts';
import { columnList, SandboxCodec } from './sandbox-columns.ts';
import { QuotaGuard } from './within-quota.ts';

const schedulableColumns = [
  'ownerId',
  'id',
  'state',
  'operation',
  'autoStopMinutes',
  'autoArchiveMinutes',
  'autoDeleteMinutes',
  'deadline',
  'sleep',
  'lastActivityAt',
  'stoppedAt',
] as const satisfies readonly (keyof Schedulable)[];

const comparableColumns = [
  'id',
  'state',
  'stateReason',
  'operation',
  'ownerId',
  'imageDigest',
  'generation',
  'runGeneration',
  'network',
  'secretIds',
] as const satisfies readonly (keyof Comparable)[];

const inProgressColumns = [
  'id',
  'operation',
  'holder',
  'generation',
] as const satisfies readonly (keyof InProgress)[];

const VISIBLE = `owner_id = :owner AND operation IS DISTINCT FROM 'creating'`;
const READY_IN_POOL = `owner_id IS NULL AND operation IS NULL AND state = 'started'`;

export class SandboxRows implements SandboxStore {
  readonly #sql: Sql;
  readonly #quota: QuotaGuard;
  readonly #codec: SandboxCodec;
  readonly #statements: ReturnType<typeof prepare>;
  /** Updates by the columns that they set; one for each kind of change in the code. */
  readonly #updates = new Map<string, Statement>();

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#quota = new QuotaGuard(sql);
    this.#codec = new SandboxCodec(secrets);
    this.#statements = prepare(sql.dialect);
  }

  async insert(sandbox: Sandbox, allowance?: Allowance): Promise<void> {
    const row = this.#codec.encode(sandbox.id, sandbox);
    const insert = () => this.#statements.insert.run(row);
    await this.#refusingTakenName(sandbox.name, () =>
      this.#quota.writeOne(allowance, insert, sandbox.ownerId ?? undefined),
    );
  }

  async get(id: string): Promise<Sandbox | null> {
    return this.#one(await this.#sql.read(() => this.#statements.get.get({ id })));
  }

  /** Every read of the database shows what is committed. */
  reread(id: string): Promise<Sandbox | null> {
    return this.get(id);
  }

  async find(ownerId: string, idOrName: string): Promise<Sandbox | null> {
    const { findById, findByName } = this.#statements;
    const find = idOrName.startsWith('sb_') ? findById : findByName;
    return this.#one(await this.#sql.read(() => find.get({ owner: ownerId, wanted: idOrName }), ownerId));
  }

  async list(filter: SandboxFilter, page: Page): Promise<{ sandboxes: Sandbox[]; totalCount: number }> {
    const { count, list } = this.#statements;
    const where = {
      owner: filter.ownerId,
      state: filter.state ?? null,
      labels: JSON.stringify(filter.labels ?? {}),
    };
    const window = { offset: (page.page - 1) * page.pageSize, limit: page.pageSize };
    const { rows, totalCount } = await this.#sql.readTogether(function* () {
      const rows = yield* list.all({ ...where, ...window });
      return { rows, totalCount: Number((yield* count.get(where))?.['count']) };
    }, filter.ownerId);
    return { sandboxes: this.#many(rows), totalCount };
  }

  async names(ownerId: string, limit: number): Promise<{ id: string; name: string }[]> {
    const rows = await this.#sql.read(() => this.#statements.names.all({ owner: ownerId, limit }), ownerId);
    return rows.map((row) => this.#codec.decodeOnly(row, ['id', 'name']));
  }

  async createdUnder(ownerId: string, creationKey: string, since: number): Promise<Sandbox | null> {
    const values = { owner: ownerId, key: creationKey, since };
    return this.#one(await this.#sql.read(() => this.#statements.createdUnder.get(values), ownerId));
  }

  async all(): Promise<Sandbox[]> {
    await this.#sql.settled();
    return this.#many(await this.#sql.read(() => this.#statements.all.all()));
  }

  async comparable(afterId: string, limit: number): Promise<Comparable[]> {
    await this.#sql.settled();
    const rows = await this.#sql.read(() => this.#statements.comparable.all({ after: afterId, limit }));
    return rows.map((row) => this.#codec.decodeOnly(row, comparableColumns));
  }

  async inProgress(afterId: string, limit: number): Promise<InProgress[]> {
    await this.#sql.settled();
    const rows = await this.#sql.read(() => this.#statements.inProgress.all({ after: afterId, limit }));
    return rows.map((row) => this.#codec.decodeOnly(row, inProgressColumns));
  }

  async schedulable(): Promise<Schedulable[]> {
    await this.#sql.settled();
    const rows = await this.#sql.read(() => this.#statements.schedulable.all());
    return rows.map((row) => this.#codec.decodeOnly(row, schedulableColumns));
  }

  async archives(afterId: string, limit: number): Promise<{ id: string; archive: ArchiveRecord }[]> {
    await this.#sql.settled();
    const rows = await this.#sql.read(() => this.#statements.archives.all({ after: afterId, limit }));
    return rows.flatMap((row) => {
      const { id, archive } = this.#codec.decodeOnly(row, ['id', 'archive']);
      return archive === null ? [] : [{ id, archive }];
    });
  }

  async pool(): Promise<Sandbox[]> {
    await this.#sql.settled();
    return this.#many(await this.#sql.read(() => this.#statements.pool.all()));
  }

  async claim(
    match: { imageDigest: string; diskGb: number },
    patch: SandboxPatch,
    allowance?: Allowance,
  ): Promise<Sandbox | null> {
    const { firstInPool } = this.#statements;
    const codec = this.#codec;
    const change = this.#change.bind(this);
    const claim = function* () {
      const found = yield* firstInPool.get({ image_digest: match.imageDigest, disk: match.diskGb });
      if (!found) return null;
      const { id, generation } = codec.decodeOnly(found, ['id', 'generation']);
      return yield* change(id, generation, { ...patch, generation: generation + 1 });
    };
    return this.#refusingTakenName(patch.name, () =>
      this.#quota.write(allowance, `claims of ${patch.ownerId}`, claim, patch.ownerId ?? undefined),
    );
  }

  async update(
    id: string,
    generation: number,
    patch: SandboxPatch,
    allowance?: Allowance,
    unusedSince?: number,
  ): Promise<Sandbox | null> {
    return this.#refusingTakenName(patch.name, () =>
      this.#quota.writeOne(allowance, () => this.#change(id, generation, patch, unusedSince)),
    );
  }

  async usage(ownerId: string): Promise<Omit<Usage, 'snapshots'>> {
    const counted = () => this.#quota.usage(ownerId);
    const { snapshots: _, ...usage } = await this.#sql.readTogether(counted, ownerId);
    return usage;
  }

  async promisedDiskGb(): Promise<number> {
    return this.#quota.promisedDiskGb();
  }

  async remove(id: string, generation: number): Promise<boolean> {
    return (await this.#sql.writeOne(() => this.#statements.remove.run({ id, generation }))) === 1;
  }

  async touch(activity: Map<string, number>): Promise<void> {
    if (activity.size === 0) return;
    const { touch } = this.#statements;
    await this.#sql.write('activity', function* () {
      for (const [id, at] of activity) yield* touch.run({ id, at });
    });
  }

  *#change(
    id: string,
    generation: number,
    patch: SandboxPatch,
    unusedSince = Number.MAX_SAFE_INTEGER,
  ): Work<Sandbox | null> {
    const values = this.#codec.encode(id, patch);
    if ('id' in values) throw new Error('the id of a sandbox never changes');
    const update = this.#updateOf(Object.keys(values));
    return this.#one(
      yield* update.get({ ...values, this_id: id, this_generation: generation, unused_since: unusedSince }),
    );
  }

  #updateOf(columns: string[]): Statement {
    const settings = columns.map((column) => `${column} = :${column}`).join(', ') || 'id = id';
    const known = this.#updates.get(settings);
    if (known) return known;
    const update = statement(
      `UPDATE sandboxes SET ${settings} WHERE id = :this_id AND generation = :this_generation
         AND last_activity_at <= :unused_since
       RETURNING ${columnList()}`,
    );
    this.#updates.set(settings, update);
    return update;
  }

  async #refusingTakenName<T>(name: string | undefined, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!this.#sql.isDuplicate(error, 'columns')) throw error;
      throw new SandhavenError('already_exists', `There is a sandbox named '${name}' already.`, {
        parameter: 'name',
        hint: 'Choose another name, or delete that sandbox first.',
      });
    }
  }

  #one(row: Row | undefined): Sandbox | null {
    return row ? this.#codec.decode(row) : null;
  }

  #many(rows: Row[]): Sandbox[] {
    return rows.map((row) => this.#codec.decode(row));
  }
}

function prepare({ includesPairs, integerIn, lockingFree }: Dialect) {
  const all = columnList();
  const names = all.split(', ');
  const listed = `${VISIBLE} AND (state = :state OR :state IS NULL) AND ${includesPairs('labels', ':labels')}`;
  const select = (where: string, columns = all) =>
    statement(`SELECT ${columns} FROM sandboxes WHERE ${where}`);
  return {
    insert: statement(
      `INSERT INTO sandboxes (${all}) VALUES (${names.map((name) => `:${name}`).join(', ')})`,
    ),
    get: select('id = :id'),
    findById: select(`${VISIBLE} AND id = :wanted`),
    findByName: select(`${VISIBLE} AND name = :wanted`),
    count: select(listed, 'count(*) AS count'),
    list: select(`${listed} ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset`),
    names: select(`${VISIBLE} ORDER BY name LIMIT :limit`, columnList(['id', 'name'])),
    createdUnder: select(
      `${VISIBLE} AND creation_key = :key AND created_at >= :since ORDER BY created_at DESC LIMIT 1`,
    ),
    all: select('true ORDER BY created_at, id'),
    comparable: select('id > :after ORDER BY id LIMIT :limit', columnList(comparableColumns)),
    inProgress: select(
      'operation IS NOT NULL AND id > :after ORDER BY id LIMIT :limit',
      columnList(inProgressColumns),
    ),
    schedulable: select('owner_id IS NOT NULL AND operation IS NULL', columnList(schedulableColumns)),
    archives: select(
      'archive IS NOT NULL AND id > :after ORDER BY id LIMIT :limit',
      columnList(['id', 'archive']),
    ),
    pool: select(`${READY_IN_POOL} ORDER BY created_at, id`),
    firstInPool: select(
      `${READY_IN_POOL} AND image_digest = :image_digest AND ${integerIn('resources', 'disk')} = :disk
       ORDER BY created_at, id LIMIT 1 ${lockingFree}`,
      columnList(['id', 'generation']),
    ),
    remove: statement('DELETE FROM sandboxes WHERE id = :id AND generation = :generation'),
    touch: statement('UPDATE sandboxes SET last_activity_at = :at WHERE id = :id AND last_activity_at < :at'),
  };
}
