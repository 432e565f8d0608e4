/** Runs a work in a transaction. A commit whose connection is lost is asked for on another one. */
import type { Answer, Request, Work } from '../sql/sql.ts';
import type { Connection, Lender } from './connections.ts';
import { isLost, isUnanswered, outcomeUnknown } from './errors.ts';
import { begin, type Mark, outcomeOf } from './outcome.ts';
import { numbered, valuesOf } from './placeholders.ts';

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
