/** Quota checks in the transaction of the change: two concurrent calls never both take the last unit. */
import type { Allowance } from '../../control/ports/index.ts';
import { GiB } from '../../model/limits.ts';
import { assertWithinQuota, isUnlimited, type Usage } from '../../model/quota.ts';
import { type Dialect, type Sql, statement, type Work } from '../sql/sql.ts';

export class QuotaGuard {
  readonly #sql: Sql;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#statements = prepare(sql.dialect);
  }

  /** Runs one writing statement and commits it, or rolls it back and fails with `resource_exhausted`. */
  writeOne<T>(allowance: Allowance | undefined, work: () => Work<T>, owner?: string): Promise<T> {
    if (!allowance || isUnlimited(allowance.quota)) return this.#sql.writeOne(work, owner);
    return this.#writeWithin(allowance, work);
  }

  /** As `writeOne`, of several statements. */
  write<T>(allowance: Allowance | undefined, lock: string, work: () => Work<T>, owner?: string): Promise<T> {
    if (!allowance || isUnlimited(allowance.quota)) return this.#sql.write(lock, work, owner);
    return this.#writeWithin(allowance, work);
  }

  /** Returns the full size, in GB, of the disks of all sandboxes that are not archived. */
  async promisedDiskGb(): Promise<number> {
    const row = await this.#sql.read(() => this.#statements.promised.get());
    return Number(row?.['disk'] ?? 0);
  }

  *usage(ownerId: string): Work<Usage> {
    const { sandboxes, snapshots } = this.#statements;
    const row = {
      ...(yield* sandboxes.get({ owner: ownerId })),
      ...(yield* snapshots.get({ owner: ownerId })),
    };
    const of = (kind: keyof Usage | 'captured') => Number(row[kind] ?? 0);
    return {
      sandboxes: of('sandboxes'),
      cpu: of('cpu'),
      memory: of('memory'),
      disk: of('disk') + of('captured'),
      snapshots: of('snapshots'),
    };
  }

  #writeWithin<T>({ ownerId, quota }: Allowance, work: () => Work<T>): Promise<T> {
    const usage = () => this.usage(ownerId);
    const guarded = function* () {
      const before = yield* usage();
      const result = yield* work();
      assertWithinQuota(quota, before, yield* usage());
      return result;
    };
    return this.#sql.write(`quota of ${ownerId}`, guarded, ownerId);
  }
}

const RUNS = `(state = 'started' OR operation IN ('creating', 'starting', 'restoring'))`;

function prepare({ integerIn }: Dialect) {
  /** A resource of a sandbox, or its resize target when that is larger. */
  const more = (kind: string) => {
    const [now, target] = [integerIn('resources', kind), integerIn('resize_target', kind)];
    return `CASE WHEN ${target} > ${now} THEN ${target} ELSE ${now} END`;
  };
  const running = (kind: string) => `CASE WHEN ${RUNS} THEN ${more(kind)} ELSE 0 END`;
  return {
    sandboxes: statement(
      `SELECT count(*) AS sandboxes, sum(${more('disk')}) AS disk,
              sum(${running('cpu')}) AS cpu, sum(${running('memory')}) AS memory
       FROM sandboxes WHERE owner_id = :owner`,
    ),
    promised: statement(`SELECT sum(${more('disk')}) AS disk FROM sandboxes WHERE state <> 'archived'`),
    snapshots: statement(
      `SELECT count(*) AS snapshots,
              sum(CASE WHEN source IS NULL THEN 0 ELSE (size_bytes + ${GiB - 1}) / ${GiB} END) AS captured
       FROM snapshots WHERE owner_id = :owner`,
    ),
  };
}
