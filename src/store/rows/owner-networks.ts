/** Networks of owners as rows. Every method that writes has committed when its promise resolves. */
import type { OwnerNetworkStore } from '../../control/ports/index.ts';
import { installationNetworks, type OwnerNetworks } from '../../model/network/setting.ts';
import { type Row, type Sql, statement, type Work } from '../sql/sql.ts';
import { networkSchema } from './sandbox-columns.ts';

export class OwnerNetworkRows implements OwnerNetworkStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async of(ownerId: string): Promise<OwnerNetworks> {
    const row = await this.#sql.read(() => statements.find.get({ owner: ownerId }), ownerId);
    return row ? decode(row) : installationNetworks;
  }

  async set(ownerId: string, change: Partial<OwnerNetworks>): Promise<OwnerNetworks | null> {
    const work = function* (): Work<OwnerNetworks | null> {
      const row = yield* statements.find.get({ owner: ownerId });
      const changed = { ...(row ? decode(row) : installationNetworks), ...change };
      const { usual, most } = changed;
      const values = { owner: ownerId, usual: encode(usual), most: encode(most) };
      return (yield* statements.put.run(values)) === 1 ? changed : null;
    };
    return this.#sql.write(`networks of ${ownerId}`, work, ownerId);
  }

  async running(ownerId: string): Promise<string[]> {
    const rows = await this.#sql.read(() => statements.running.all({ owner: ownerId }), ownerId);
    return rows.map((row) => String(row['id']));
  }
}

const statements = {
  find: statement('SELECT usual, most FROM owner_networks WHERE owner_id = :owner'),
  put: statement(
    `INSERT INTO owner_networks (owner_id, usual, most)
       SELECT id, CAST(:usual AS TEXT), CAST(:most AS TEXT) FROM users WHERE id = :owner
       ON CONFLICT (owner_id) DO UPDATE SET usual = excluded.usual, most = excluded.most`,
  ),
  running: statement(
    `SELECT id FROM sandboxes WHERE owner_id = :owner AND operation IS DISTINCT FROM 'creating'
       AND (state = 'started' OR operation IS NOT NULL) ORDER BY created_at, id`,
  ),
};

function encode(setting: OwnerNetworks['usual']): string | null {
  return setting === null ? null : JSON.stringify(setting);
}

function decode({ usual, most }: Row): OwnerNetworks {
  const parse = (text: unknown) => networkSchema.nullable().parse(JSON.parse(String(text ?? 'null')));
  return { usual: parse(usual), most: parse(most) };
}
