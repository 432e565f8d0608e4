/**
 * Runs the store's statements on PostgreSQL. Statements see what is committed when they begin (READ COMMITTED); works of
 * one lock exclude each other by an advisory lock, which ends with their transaction, also when the service is killed.
 */
import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { KeyedQueue } from '../../concurrency/keyed-queue.ts';
import { inSpan, type Span } from '../../concurrency/span.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Dialect, Request, Sql, Work } from '../sql/sql.ts';
import { Connections } from './connections.ts';
import { explained, isDuplicate, isRepeatable } from './errors.ts';
import { numbered } from './pool.ts';
import { finish, readTogether, write, writeOne } from './transaction.ts';

/** @param usable Throws while another service may use the database. */
export function postgresSql(pool: pg.Pool, usable: () => void): Sql {
  const connections = new Connections(pool);
  // Works of this process wait here for their lock: a lock takes one connection at most from the others.
  const locked = new KeyedQueue({
    maxWaiting: limits.postgres.waiting,
    full: tooManyWait,
    preempted: () => new Error('no work of the store is pre-empted'),
  });
  const of = (share: string | undefined) => connections.of(share);
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
    read: (work, share) =>
      inStatementSpan('read', work, (noted) =>
        explaining(of(share).use((connection) => finish(noted(), connection))),
      ),
    readTogether: (work, share) =>
      inStatementSpan('read', work, (noted) => explaining(readTogether(of(share), noted))),
    writeOne: (work, share) =>
      inStatementSpan('write', work, (noted) => repeatedly(() => writeOne(of(share), noted))),
    write: (lock, work, share) =>
      inStatementSpan('write', work, (noted) =>
        locked.run(lock, () => repeatedly(() => write(of(share), advisoryLock(lock), noted))),
      ),
    // A commit is on the disk before anybody sees it.
    settled: async () => {},
    isDuplicate,
    close: () => connections.close(),
  };
}

function tooManyWait(): SandhavenError {
  return new SandhavenError('resource_exhausted', 'Too many changes of this kind wait for each other.', {
    hint: 'Wait for some of them to end, then try again.',
    retryable: true,
  });
}

async function explaining<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw explained(error);
  }
}

/** The database's clock, in milliseconds since the epoch. */
export const DATABASE_NOW = `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)`;

const dialect: Dialect = {
  integerIn: (column, key) => `CAST(CAST(${column} AS json) ->> '${key}' AS bigint)`,
  includesPairs: (column, parameter) => `NOT EXISTS (
    SELECT 1 FROM json_each_text(${readable(parameter)}) AS wanted WHERE NOT EXISTS (
      SELECT 1 FROM json_each_text(${readable(column)}) AS pair
      WHERE pair.key = wanted.key AND pair.value = wanted.value))`,
  equalsIgnoringCase: (column, parameter) =>
    `lower(${column}) = lower(CAST(${parameter} AS text) COLLATE "C")`,
  now: DATABASE_NOW,
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

const VERB = /^\s*([a-z]+)/i;
const TABLE = /\b(?:INTO|UPDATE|FROM)\s+([a-z_]+)/i;

/**
 * Spans of work in the database. They name the first statement by its verb, its table and its prepared name, never its text.
 * @param kind Such as `read` or `write`.
 * @param run Gets the work, with its statements counted.
 */
export function inStatementSpan<T, R>(
  kind: string,
  work: () => Work<T>,
  run: (work: () => Work<T>) => Promise<R>,
): Promise<R> {
  return inSpan(`store ${kind}`, { 'db.system.name': 'postgresql' }, (span) =>
    run(span ? () => noted(span, work()) : work),
  );
}

function* noted<T>(span: Span, work: Work<T>): Work<T> {
  let statements = 0;
  let step = work.next();
  while (!step.done) {
    if (++statements === 1) span.set(labelOf(step.value));
    step = work.next(yield step.value);
  }
  span.set({ 'sandhaven.statements': statements });
  return step.value;
}

function labelOf({ statement }: Request) {
  const verb = VERB.exec(statement.text)?.[1]?.toUpperCase();
  const table = TABLE.exec(statement.text)?.[1];
  return {
    'sandhaven.statement': numbered(statement).name,
    ...(verb ? { 'db.operation.name': verb } : {}),
    ...(table ? { 'db.collection.name': table } : {}),
  };
}
