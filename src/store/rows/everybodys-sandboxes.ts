/** Everybody's sandboxes as admins see them, with their owners. No read here decrypts anything. */
import type { EverybodyFilter, EverybodyStore, OwnedSandbox, Page } from '../../control/ports/index.ts';
import { isTeamId } from '../../model/ids.ts';
import type { Secrets } from '../files/secrets.ts';
import { type Row, type Sql, statement } from '../sql/sql.ts';
import { columnList, SandboxCodec } from './sandbox-columns.ts';

const columns = [
  'id',
  'ownerId',
  'name',
  'state',
  'operation',
  'stateReason',
  'image',
  'resources',
  'deadline',
  'createdAt',
  'lastActivityAt',
] as const;

export class EverybodysSandboxRows implements EverybodyStore {
  readonly #sql: Sql;
  readonly #codec: SandboxCodec;

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#codec = new SandboxCodec(secrets);
  }

  async list(
    { ownerId, state }: EverybodyFilter,
    { page, pageSize }: Page,
  ): Promise<{ sandboxes: OwnedSandbox[]; totalCount: number }> {
    const where = { owner: ownerId ?? null, state: state ?? null };
    const window = { offset: (page - 1) * pageSize, limit: pageSize };
    const { rows, totalCount } = await this.#sql.readTogether(function* () {
      const rows = yield* statements.list.all({ ...where, ...window });
      return { rows, totalCount: Number((yield* statements.count.get(where))?.['count']) };
    });
    return { sandboxes: rows.map((row) => this.#decode(row)), totalCount };
  }

  #decode(row: Row): OwnedSandbox {
    const { ownerId, ...sandbox } = this.#codec.decodeOnly(row, columns);
    const id = String(ownerId);
    const email = isTeamId(id) ? null : String(row['owner_email']);
    return { ...sandbox, owner: { id, name: String(row['owner_name']), email } };
  }
}

const LISTED = `owner_id IS NOT NULL AND operation IS DISTINCT FROM 'creating'
  AND (owner_id = :owner OR :owner IS NULL) AND (state = :state OR :state IS NULL)`;

const statements = {
  count: statement(`SELECT count(*) AS count FROM sandboxes WHERE ${LISTED}`),
  list: statement(
    `SELECT ${columnList(columns)},
       (SELECT name FROM users WHERE users.id = sandboxes.owner_id) AS owner_name,
       (SELECT email FROM users WHERE users.id = sandboxes.owner_id) AS owner_email
     FROM sandboxes WHERE ${LISTED} ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset`,
  ),
};
