/** Audit rows and their anchor in the database. The audit service verifies the chain; this file only stores it. */
import type { AuditStore, SealedEnd } from '../../control/ports/index.ts';
import type { AuditFilter, AuditRow, ChainEnd } from '../../model/audit.ts';
import { SandhavenError } from '../../model/errors.ts';
import { type Row, type Sql, type SqlValue, type SqlValues, statement } from '../sql/sql.ts';

const columns: Record<Exclude<keyof AuditRow, 'hash'>, string> = {
  sequence: 'sequence',
  time: 'time',
  action: 'action',
  transport: 'transport',
  outcome: 'outcome',
  durationMs: 'duration_ms',
  userId: 'user_id',
  keyId: 'key_id',
  sandboxId: 'sandbox_id',
  clientAddress: 'client_address',
  requestId: 'request_id',
  count: 'count',
  teamId: 'team_id',
  madeBy: 'made_by',
};
const properties = Object.keys(columns) as (keyof typeof columns)[];
const names = [...Object.values(columns), 'hash'];
const all = names.join(', ');

const conditions: Record<keyof AuditFilter, string> = {
  userId: '(user_id = :userId OR team_id = :userId)',
  keyId: 'key_id = :keyId',
  action: 'action = :action',
  sandboxId: 'sandbox_id = :sandboxId',
  teamId: 'team_id = :teamId',
  outcome: 'outcome = :outcome',
  since: 'time >= :since',
  until: 'time < :until',
  exceptAction: 'action <> :exceptAction',
};

export class AuditRows implements AuditStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async append(rows: readonly AuditRow[]): Promise<void> {
    try {
      await this.#sql.write(
        'audit',
        function* () {
          for (const row of rows) yield* statements.insert.run(encode(row));
        },
        'audit',
      );
    } catch (error) {
      if (!this.#sql.isDuplicate(error, 'key')) throw error;
      throw new SandhavenError('already_exists', 'The audit log has a row of this sequence.');
    }
  }

  async last(): Promise<ChainEnd | null> {
    const row = await this.#sql.read(() => statements.last.get(), 'audit');
    return row ? { sequence: Number(row['sequence']), hash: bytesOf(row['hash']) } : null;
  }

  async read(after: number, limit: number): Promise<AuditRow[]> {
    return (await this.#sql.read(() => statements.read.all({ after, limit }), 'audit')).map(decode);
  }

  async search(
    filter: AuditFilter,
    { after, through }: { after: number; through: number },
    { which, limit }: { which: 'first' | 'last'; limit: number },
  ): Promise<AuditRow[]> {
    const given = Object.entries(filter) as [keyof AuditFilter, SqlValue][];
    const where = ['sequence > :after', 'sequence <= :through', ...given.map(([name]) => conditions[name])];
    const order = which === 'first' ? 'ASC' : 'DESC';
    const sql = `SELECT ${all} FROM audit_log WHERE ${where.join(' AND ')} ORDER BY sequence ${order} LIMIT :limit`;
    const found = await this.#sql.read(
      () => statement(sql).all({ ...filter, after, through, limit }),
      'audit',
    );
    const rows = found.map(decode);
    return which === 'first' ? rows : rows.reverse();
  }

  /** Binary search over the sequence: an index on time would cost one more write per row. */
  async sequenceAt(time: number): Promise<number> {
    const { from, last, first } = statements;
    return this.#sql.readTogether(function* () {
      let low = Number((yield* first.get())?.['sequence'] ?? 1);
      let high = Number((yield* last.get())?.['sequence'] ?? 0) + 1;
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        const row = yield* from.get({ sequence: middle });
        if (row && Number(row['time']) < time) low = Number(row['sequence']) + 1;
        else high = middle;
      }
      // Sequence numbers may have gaps: the row found there counts.
      return Number((yield* from.get({ sequence: low }))?.['sequence'] ?? low);
    }, 'audit');
  }

  async anchor(): Promise<SealedEnd | null> {
    const row = await this.#sql.read(() => statements.anchor.get(), 'audit');
    if (!row) return null;
    return { sequence: Number(row['sequence']), hash: bytesOf(row['hash']), seal: bytesOf(row['seal']) };
  }

  async prune({ sequence, hash, seal }: SealedEnd): Promise<void> {
    await this.#sql.write(
      'audit',
      function* () {
        yield* statements.setAnchor.run({ sequence, hash, seal });
        yield* statements.removeThrough.run({ sequence });
      },
      'audit',
    );
  }
}

const statements = {
  insert: statement(`INSERT INTO audit_log (${all}) VALUES (${names.map((name) => `:${name}`).join(', ')})`),
  first: statement('SELECT sequence FROM audit_log ORDER BY sequence LIMIT 1'),
  last: statement('SELECT sequence, hash FROM audit_log ORDER BY sequence DESC LIMIT 1'),
  from: statement(
    'SELECT sequence, time FROM audit_log WHERE sequence >= :sequence ORDER BY sequence LIMIT 1',
  ),
  read: statement(`SELECT ${all} FROM audit_log WHERE sequence > :after ORDER BY sequence LIMIT :limit`),
  anchor: statement('SELECT sequence, hash, seal FROM audit_anchor'),
  setAnchor: statement(
    `INSERT INTO audit_anchor (only_row, sequence, hash, seal) VALUES (1, :sequence, :hash, :seal)
       ON CONFLICT (only_row) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash, seal = excluded.seal`,
  ),
  removeThrough: statement('DELETE FROM audit_log WHERE sequence <= :sequence'),
};

function encode(row: AuditRow): SqlValues {
  const values = properties.map((property): [string, SqlValue] => [columns[property], row[property] ?? null]);
  return { ...Object.fromEntries(values), hash: row.hash };
}

function decode(row: Row): AuditRow {
  const plain = Object.fromEntries(properties.map((property) => [property, row[columns[property]]]));
  for (const rare of ['teamId', 'madeBy']) if (plain[rare] === null) delete plain[rare];
  return { ...plain, hash: bytesOf(row['hash']) } as unknown as AuditRow;
}

function bytesOf(value: unknown): Buffer {
  return Buffer.from(value as Uint8Array);
}
