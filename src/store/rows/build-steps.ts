/** Captured steps of builds as rows. Every method that writes has committed when its promise resolves. */
import type { BuildStep, BuildStepStore } from '../../control/ports/index.ts';
import { type Row, type Sql, statement, type Work } from '../sql/sql.ts';

export class BuildStepRows implements BuildStepStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async find(ownerId: string, key: string, now: number): Promise<BuildStep | null> {
    return one(await this.#sql.writeOne(() => statements.use.get({ owner: ownerId, key, now }), ownerId));
  }

  put({ captureId, ownerId, key, sizeBytes, usedAt }: BuildStep): Promise<BuildStep | null> {
    const work = function* (): Work<BuildStep | null> {
      const replaced = one(yield* statements.removeKey.get({ owner: ownerId, key }));
      yield* statements.insert.run({ id: captureId, owner: ownerId, key, bytes: sizeBytes, used: usedAt });
      return replaced;
    };
    return this.#sql.write(`build steps of ${ownerId}`, work, ownerId);
  }

  async list(ownerId: string): Promise<BuildStep[]> {
    const rows = await this.#sql.read(() => statements.list.all({ owner: ownerId }), ownerId);
    return rows.map(decode);
  }

  async all(): Promise<BuildStep[]> {
    return (await this.#sql.read(() => statements.all.all())).map(decode);
  }

  async remove(captureId: string): Promise<boolean> {
    return (await this.#sql.writeOne(() => statements.remove.run({ id: captureId }))) > 0;
  }
}

const all = 'capture_id, owner_id, key, size_bytes, used_at';
const statements = {
  use: statement(
    `UPDATE build_steps SET used_at = :now WHERE owner_id = :owner AND key = :key RETURNING ${all}`,
  ),
  removeKey: statement(`DELETE FROM build_steps WHERE owner_id = :owner AND key = :key RETURNING ${all}`),
  insert: statement(`INSERT INTO build_steps (${all}) VALUES (:id, :owner, :key, :bytes, :used)`),
  list: statement(`SELECT ${all} FROM build_steps WHERE owner_id = :owner ORDER BY used_at, capture_id`),
  all: statement(`SELECT ${all} FROM build_steps ORDER BY used_at, capture_id`),
  remove: statement('DELETE FROM build_steps WHERE capture_id = :id'),
};

const one = (row: Row | undefined): BuildStep | null => (row ? decode(row) : null);

function decode(row: Row): BuildStep {
  return {
    captureId: String(row['capture_id']),
    ownerId: String(row['owner_id']),
    key: String(row['key']),
    sizeBytes: Number(row['size_bytes']),
    usedAt: Number(row['used_at']),
  };
}
