/** The store in one SQLite file. The caller owns the lock of the data directory, so there is one writer. */
import type { StatementSync } from 'node:sqlite';
import type { Log, Store } from '../../control/ports/index.ts';
import type { Secrets } from '../files/secrets.ts';
import { createAlone } from '../rows/alone.ts';
import { openRows } from '../rows/open-rows.ts';
import type { Answer, Dialect, Request, Sql, Statement, Work } from '../sql/sql.ts';
import { Database, isDuplicate } from './database.ts';
import { migrate } from './migrations.ts';

export interface StoreOptions {
  file: string;
  secrets: Secrets;
  /** Receives failures of background work. */
  log?: Pick<Log, 'warn'>;
}

/**
 * Opens the file, or creates it, and migrates it to the newest schema.
 * Rejects a file of a newer service, of another program, or of another secret key with `failed_precondition`.
 */
export async function openSqliteStore({ file, secrets, log }: StoreOptions): Promise<Store> {
  const database = new Database(file, log);
  try {
    migrate(database);
    return { ...(await openRows(sqliteSql(database), secrets)), replicas: createAlone() };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * Runs the store's statements on SQLite, in the calling thread. Nothing else runs between two statements of one work.
 */
function sqliteSql(database: Database): Sql {
  const answer = answering(database);
  const run = <T>(work: () => Work<T>) => finish(work(), answer);
  return {
    dialect,
    read: async (work) => run(work),
    readTogether: async (work) => database.read(() => run(work)),
    writeOne: (work) => database.write(() => run(work)),
    // A transaction of SQLite that writes excludes every other.
    write: (_lock, work) => database.write(() => run(work)),
    settled: () => database.settled(),
    isDuplicate,
    close: () => database.close(),
  };
}

const dialect: Dialect = {
  integerIn: (column, key) => `CAST(${column} ->> '${key}' AS INTEGER)`,
  includesPairs: (column, parameter) => `NOT EXISTS (
    SELECT 1 FROM json_each(${parameter}) AS wanted WHERE NOT EXISTS (
      SELECT 1 FROM json_each(${column}) AS pair
      WHERE pair.key = wanted.key AND pair.value = wanted.value))`,
  equalsIgnoringCase: (column, parameter) => `${column} = ${parameter} COLLATE NOCASE`,
  now: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
  lockingFree: '',
};

function finish<T>(work: Work<T>, answer: (request: Request) => Answer): T {
  let step = work.next();
  while (!step.done) step = work.next(answer(step.value));
  return step.value;
}

function answering(database: Database): (request: Request) => Answer {
  // Weak: statements that are made for one call go with it.
  const prepared = new WeakMap<Statement, StatementSync>();
  const of = (statement: Statement) => {
    const known = prepared.get(statement) ?? database.prepare(statement.text);
    prepared.set(statement, known);
    return known;
  };
  return ({ statement, values, wanted }) => {
    const ready = of(statement);
    if (wanted === 'changes') return { rows: [], changes: Number(ready.run(values).changes) };
    if (wanted === 'rows') return { rows: ready.all(values), changes: 0 };
    const row = ready.get(values);
    return { rows: row ? [row] : [], changes: 0 };
  };
}
