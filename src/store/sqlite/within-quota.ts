/** Quota checks in the transaction of the change: two concurrent calls never both take the last unit. */
import type { Allowance } from '../../control/ports/index.ts';
import { assertWithinQuota, isUnlimited, type Usage } from '../../model/quota.ts';
import type { Database } from './database.ts';

export class QuotaGuard {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepare(database);
  }

  /** Runs `work` and commits it, or rolls it back and fails with `resource_exhausted`. */
  write<T>(allowance: Allowance | undefined, work: () => T): Promise<T> {
    return this.#database.write(() => {
      if (!allowance || isUnlimited(allowance.quota)) return work();
      const before = this.usage(allowance.ownerId);
      const result = work();
      assertWithinQuota(allowance.quota, before, this.usage(allowance.ownerId));
      return result;
    });
  }

  /** Returns the full size, in GB, of the disks of all sandboxes that are not archived. */
  promisedDiskGb(): number {
    return Number(this.#statements.promised.get()?.['disk'] ?? 0);
  }

  usage(ownerId: string): Usage {
    const { sandboxes, snapshots } = this.#statements;
    const row = { ...sandboxes.get({ owner: ownerId }), ...snapshots.get({ owner: ownerId }) };
    const of = (kind: keyof Usage) => Number(row[kind] ?? 0);
    return {
      sandboxes: of('sandboxes'),
      cpu: of('cpu'),
      memory: of('memory'),
      disk: of('disk'),
      snapshots: of('snapshots'),
    };
  }
}

/** A resource of a sandbox, or its resize target when that is larger. */
const more = (kind: string) => `max(resources ->> '${kind}', coalesce(resize_target ->> '${kind}', 0))`;
const RUNS = `(state = 'started' OR operation IN ('creating', 'starting', 'restoring'))`;

function prepare(database: Database) {
  return {
    sandboxes: database.prepare(
      `SELECT count(*) AS sandboxes, sum(${more('disk')}) AS disk,
              sum(iif(${RUNS}, ${more('cpu')}, 0)) AS cpu, sum(iif(${RUNS}, ${more('memory')}, 0)) AS memory
       FROM sandboxes WHERE owner_id = :owner`,
    ),
    promised: database.prepare(
      `SELECT sum(${more('disk')}) AS disk FROM sandboxes WHERE state <> 'archived'`,
    ),
    snapshots: database.prepare('SELECT count(*) AS snapshots FROM snapshots WHERE owner_id = :owner'),
  };
}
