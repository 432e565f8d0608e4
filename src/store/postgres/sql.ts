/**
 * Runs the store's statements on PostgreSQL. Statements see what is committed when they begin (READ COMMITTED); works of
 * one lock exclude each other by an advisory lock, which ends with their transaction, also when the service is killed.
 */
import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { KeyedQueue } from '../../concurrency/keyed-queue.ts';
import type { Answer, Dialect, Request, Sql, Work } from '../sql/sql.ts';
import { explained, isDuplicate, isRepeatable } from './errors.ts';
import { numbered, valuesOf } from './placeholders.ts';

type Connection = Pick<pg.ClientBase, 'query'>;

/** @param usable Throws while another service may use the database. */
export function postgresSql(pool: pg.Pool, usable: () => void): Sql {
  // Works of this process wait here for their lock: a lock takes one connection at most from the others.
  const locked = new KeyedQueue({ preempted: () => new Error('no work of the store is pre-empted') });
  const alone = async <T>(work: () => Work<T>): Promise<T> => {
    try {
      return await finish(work(), pool);
    } catch (error) {
      throw explained(error);
    }
  };
  const repeatedly = async <T>(run: () => Promise<T>): Promise<T> => {
    usable();
    for (let attempt = 1; ; attempt++) {
      try {
        return await run();
      } catch (error) {
        if (!isRepeatable(error, attempt)) throw explained(error);
        await pause(Math.random() * 10 * attempt);
      }
    }
  };
  return {
    dialect,
    read: alone,
    readTogether: (work) => {
      const run = () => transaction(pool, 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY', work);
      return run().catch((error: unknown) => Promise.reject(explained(error)));
    },
    writeOne: (work) => repeatedly(() => finish(work(), pool)),
    write: (lock, work) => {
      const begin = `BEGIN; SELECT pg_advisory_xact_lock(${advisoryLock(lock)})`;
      return locked.run(lock, () => repeatedly(() => transaction(pool, begin, work)));
    },
    // A commit is on the disk before anybody sees it.
    settled: async () => {},
    isDuplicate,
    close: () => pool.end(),
  };
}

const dialect: Dialect = {
  integerIn: (column, key) => `CAST(CAST(${column} AS json) ->> '${key}' AS bigint)`,
  includesPairs: (column, parameter) => `NOT EXISTS (
    SELECT 1 FROM json_each_text(${readable(parameter)}) AS wanted WHERE NOT EXISTS (
      SELECT 1 FROM json_each_text(${readable(column)}) AS pair
      WHERE pair.key = wanted.key AND pair.value = wanted.value))`,
  equalsIgnoringCase: (column, parameter) =>
    `lower(${column}) = lower(CAST(${parameter} AS text) COLLATE "C")`,
  lockingFree: 'FOR UPDATE SKIP LOCKED',
};

/** A number for a name, as advisory locks have: 64 bits with a sign. */
export function advisoryLock(name: string): bigint {
  return hash('sha256', `sandhaven ${name}`, 'buffer').readBigInt64BE();
}

/**
 * JSON without escapes of single UTF-16 units, some of which PostgreSQL's text cannot hold: `\uXXXX` becomes the six
 * characters, and so does a backslash (`\u005c`), so that different texts stay different.
 */
function readable(json: string): string {
  return String.raw`CAST(replace(replace(CAST(${json} AS text), '\\', '\u005c'), '\u', '\\u') AS json)`;
}

async function transaction<T>(pool: pg.Pool, begin: string, work: () => Work<T>): Promise<T> {
  const connection = await pool.connect();
  let broken: Error | undefined;
  try {
    await connection.query(begin);
    const result = await finish(work(), connection);
    await connection.query('COMMIT');
    return result;
  } catch (error) {
    // A connection that cannot roll back is closed, which rolls back too.
    await connection.query('ROLLBACK').catch((late: Error) => {
      broken = late;
    });
    throw error;
  } finally {
    connection.release(broken);
  }
}

async function finish<T>(work: Work<T>, connection: Connection): Promise<T> {
  let step = work.next();
  while (!step.done) step = work.next(await answer(connection, step.value));
  return step.value;
}

async function answer(connection: Connection, { statement, values, wanted }: Request): Promise<Answer> {
  const { text, name, ...rest } = numbered(statement);
  const found = await connection.query({ text, name, values: valuesOf({ text, name, ...rest }, values) });
  const changes = wanted === 'changes' ? (found.rowCount ?? 0) : 0;
  return { rows: wanted === 'changes' ? [] : found.rows, changes };
}
