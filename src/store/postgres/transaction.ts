/** Runs a work in a transaction. A commit whose connection is lost is asked for on another one. */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { within } from '../../concurrency/deadline.ts';
import { limits } from '../../model/limits.ts';
import type { Answer, Request, Work } from '../sql/sql.ts';
import type { Connection, Lender } from './connections.ts';
import { codeOf, isLost, isUnanswered, outcomeUnknown } from './errors.ts';
import { numbered, valuesOf } from './pool.ts';

/** Runs statements that only read, on one state of the database. */
export function readTogether<T>(lender: Lender, work: () => Work<T>): Promise<T> {
  return lender.use((connection) =>
    orRollBack(connection, async () => {
      await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
      const result = await finish(work(), connection);
      await connection.query('COMMIT');
      return result;
    }),
  );
}

/** Rejects with `unavailable`, not retryable, when nobody can say whether the work was committed. */
export async function write<T>(lender: Lender, lock: bigint, work: () => Work<T>): Promise<T> {
  /** Set when only the commit is left. */
  let done: { result: T; mark: Mark } | undefined;
  try {
    return await lender.use((connection) =>
      orRollBack(connection, async () => {
        const mark = await begin(connection, lock);
        const result = await finish(work(), connection);
        done = { result, mark };
        await connection.query('COMMIT');
        return result;
      }),
    );
  } catch (error) {
    if (!done || !isLost(error)) throw error;
    const outcome = await outcomeOf(lender, done.mark);
    if (outcome === 'committed') return done.result;
    throw outcome === 'aborted' ? error : outcomeUnknown(error);
  }
}

/**
 * Runs one statement that writes, which commits itself. Rejects with `unavailable`, not retryable, when its connection was
 * lost on the way: it has no number to ask by.
 */
export async function writeOne<T>(lender: Lender, work: () => Work<T>): Promise<T> {
  return lender.use(async (connection) => {
    try {
      return await finish(work(), connection);
    } catch (error) {
      throw isUnanswered(error) ? outcomeUnknown(error) : error;
    }
  });
}

export async function finish<T>(work: Work<T>, connection: Connection): Promise<T> {
  let step = work.next();
  while (!step.done) step = work.next(await answer(connection, step.value));
  return step.value;
}

/** A connection that cannot roll back is closed, which rolls back too. */
async function orRollBack<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isUnanswered(error)) await connection.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function answer(connection: Connection, { statement, values, wanted }: Request): Promise<Answer> {
  const { text, name, ...rest } = numbered(statement);
  const found = await connection.query({ text, name, values: valuesOf({ text, name, ...rest }, values) });
  const changes = wanted === 'changes' ? (found.rowCount ?? 0) : 0;
  return { rows: wanted === 'changes' ? [] : found.rows, changes };
}

/**
 * Finds out whether a transaction was committed whose COMMIT got no answer, by its number (PostgreSQL manual, "Transaction
 * ID and Snapshot Information Functions").
 *
 * A crash of the server takes back numbers that were never on its disk, and another transaction may get such a number and
 * be committed. The mark of a boot tells these apart: an unlogged table, which PostgreSQL empties after a crash.
 */
type Outcome = 'committed' | 'aborted' | 'unknown';

/** Names a transaction. */
interface Mark {
  id: string;
  /** null: the transaction began before anybody marked this boot of the server. */
  boot: string | null;
}

const { outcomeWaitMs, outcomePauseMs } = limits.postgres;
const INVALID_PARAMETER_VALUE = '22023';
const BOOT = '(SELECT id FROM sandhaven_boot) AS boot';

const markBoot = `INSERT INTO sandhaven_boot (only_row, id) VALUES (1, gen_random_uuid()) ON CONFLICT DO NOTHING`;

/** Makes the table and marks this boot, in the transaction of the last migration. */
export async function createBootMark(connection: Connection): Promise<void> {
  await connection.query(
    `CREATE UNLOGGED TABLE IF NOT EXISTS sandhaven_boot
       (only_row bigint PRIMARY KEY CHECK (only_row = 1), id uuid NOT NULL);
     ${markBoot}`,
  );
}

/** Begins a transaction that holds an advisory lock until its end, in one round trip. */
async function begin(connection: Connection, lock: bigint): Promise<Mark> {
  const answers: unknown = await connection.query(
    `BEGIN; SELECT pg_advisory_xact_lock(${lock}); SELECT pg_current_xact_id() AS id, ${BOOT}`,
  );
  const mark = (answers as pg.QueryResult<Mark>[]).at(-1)?.rows[0];
  if (!mark) throw new Error('the transaction has no number');
  // The first one since a crash.
  if (mark.boot === null) await connection.query(markBoot);
  return mark;
}

/** Asks on another connection, also while the transaction has not ended, for a bounded time. Never rejects. */
async function outcomeOf(lender: Lender, mark: Mark): Promise<Outcome> {
  let over = false;
  const settled = async (): Promise<Outcome> => {
    while (!over) {
      const outcome = await lender.aside((connection) => ask(connection, mark)).catch(() => null);
      if (outcome) return outcome;
      await pause(outcomePauseMs);
    }
    return 'unknown';
  };
  try {
    return await within<Outcome>(outcomeWaitMs, settled(), () => 'unknown');
  } finally {
    over = true;
  }
}

/** Returns null while the transaction is in progress. */
async function ask(connection: Connection, { id, boot }: Mark): Promise<Outcome | null> {
  try {
    const { rows } = await connection.query(`SELECT pg_xact_status(CAST($1 AS xid8)) AS status, ${BOOT}`, [
      id,
    ]);
    const { status, boot: now } = rows[0];
    if (status === 'in progress') return null;
    if (status === 'aborted') return 'aborted';
    return status === 'committed' && boot !== null && boot === now ? 'committed' : 'unknown';
  } catch (error) {
    // A crash took the number back, so the transaction did not reach the disk.
    if (codeOf(error) === INVALID_PARAMETER_VALUE) return 'aborted';
    throw error;
  }
}
