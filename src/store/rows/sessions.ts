/** Sessions that were made in each sandbox, and the logs of those that a stop has closed. */
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { KeptCommand, SessionStore } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import { type Sql, statement } from '../sql/sql.ts';

const pack = promisify(deflateRaw);
const unpack = promisify(inflateRaw);

export class SessionRows implements SessionStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async note(sandbox: string, session: string, created_at: number): Promise<void> {
    await this.#sql.write(`sessions of ${sandbox}`, function* () {
      yield* statements.note.run({ sandbox, session, created_at });
      yield* statements.prune.run({ sandbox, noted: limits.session.noted });
    });
  }

  async forget(sandbox: string, session: string): Promise<void> {
    await this.#sql.writeOne(() => statements.forget.run({ sandbox, session }));
  }

  async knows(sandbox: string, session?: string): Promise<boolean> {
    const { any, one } = statements;
    const found = await this.#sql.read(() =>
      session === undefined ? any.get({ sandbox }) : one.get({ sandbox, session }),
    );
    return found !== undefined;
  }

  async keepLogs(sandbox: string, logs: ReadonlyMap<string, KeptCommand[]>): Promise<void> {
    const packed = new Map<string, Buffer>();
    for (const [session, commands] of logs) packed.set(session, await pack(JSON.stringify(commands)));
    await this.#sql.write(`sessions of ${sandbox}`, function* () {
      for (const [session, bytes] of packed) yield* statements.keep.run({ sandbox, session, logs: bytes });
    });
  }

  async logs(sandbox: string, session: string): Promise<KeptCommand[]> {
    const row = await this.#sql.read(() => statements.one.get({ sandbox, session }));
    const packed = row?.['logs'] as Uint8Array | null | undefined;
    return packed ? JSON.parse((await unpack(packed)).toString()) : [];
  }

  async dropLogs(sandbox: string): Promise<void> {
    await this.#sql.writeOne(() => statements.drop.run({ sandbox }));
  }
}

const statements = {
  note: statement(
    `INSERT INTO sessions (sandbox_id, session_id, created_at, logs)
       SELECT id, :session, :created_at, NULL FROM sandboxes WHERE id = :sandbox
       ON CONFLICT (sandbox_id, session_id) DO UPDATE SET created_at = excluded.created_at, logs = NULL`,
  ),
  prune: statement(
    `DELETE FROM sessions WHERE sandbox_id = :sandbox AND session_id NOT IN (
       SELECT session_id FROM sessions WHERE sandbox_id = :sandbox
       ORDER BY created_at DESC, session_id LIMIT :noted)`,
  ),
  forget: statement('DELETE FROM sessions WHERE sandbox_id = :sandbox AND session_id = :session'),
  any: statement('SELECT 1 AS found FROM sessions WHERE sandbox_id = :sandbox LIMIT 1'),
  one: statement('SELECT logs FROM sessions WHERE sandbox_id = :sandbox AND session_id = :session'),
  keep: statement('UPDATE sessions SET logs = :logs WHERE sandbox_id = :sandbox AND session_id = :session'),
  drop: statement('UPDATE sessions SET logs = NULL WHERE sandbox_id = :sandbox AND logs IS NOT NULL'),
};
