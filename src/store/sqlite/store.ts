/** The store in one SQLite file. The caller owns the lock of the data directory, so there is one writer. */
import type { StatementSync } from 'node:sqlite';
import type { Log, Store } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { Secrets } from '../files/secrets.ts';
import { createAlone } from '../rows/alone.ts';
import { openRows } from '../rows/open-rows.ts';
import { type Migration, migrations, refuseNewer } from '../sql/schema.ts';
import type { Answer, Dialect, Request, Sql, Statement, Work } from '../sql/sql.ts';
import { heard, hearsOf } from '../sql/webhooks.ts';
import { Database, isDuplicate } from './database.ts';

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

// Brings a SQLite file to the newest step of the schema. `user_version` of the file is the number of its last step. Triggers
// queue events for webhooks, in the transaction of the change that they are about.

/** "SHVN": marks the file as Sandhaven's, so that no other program's database is ever migrated. */
const APPLICATION_ID = 0x5348564e;

/**
 * Applies the missing steps, each in its own transaction.
 * Rejects a file of a newer service, or of another program, with `failed_precondition`.
 */
export function migrate(database: Database, steps: readonly Migration[] = migrations): void {
  refuseForeign(database);
  refuseNewer(pragma(database, 'user_version'), steps);
  for (const { version, sql } of steps) {
    database.writeUnsettled(() => {
      if (pragma(database, 'user_version') >= version) return;
      dropWebhookTriggers(database);
      database.exec(sql);
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version};`);
    });
  }
  database.writeUnsettled(() => createWebhookTriggers(database));
}

function refuseForeign(database: Database): void {
  const mark = pragma(database, 'application_id');
  const objects = database.prepare('SELECT count(*) AS count FROM sqlite_schema').get();
  if (mark === APPLICATION_ID || (mark === 0 && objects?.['count'] === 0)) return;
  throw new SandhavenError('failed_precondition', 'The database file was written by another program.', {
    hint: 'Give the service a data directory of its own with --data-dir.',
  });
}

function pragma(database: Database, name: 'user_version' | 'application_id'): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

const { sandbox, snapshot, waysIn } = heard;

const triggers: readonly Trigger[] = [
  trigger({
    name: 'webhook_sandbox_update',
    on: 'UPDATE OF state, operation, owner_id ON sandboxes',
    when: sandbox.changed,
    ...{ owner: 'NEW.owner_id', type: sandbox.type, fields: sandbox.fields },
  }),
  trigger({
    name: 'webhook_sandbox_delete',
    on: 'DELETE ON sandboxes',
    when: sandbox.removed,
    ...{ owner: 'OLD.owner_id', type: `'sandbox.deleted'`, fields: sandbox.lastFields },
  }),
  trigger({
    name: 'webhook_snapshot_update',
    on: 'UPDATE OF state, owner_id ON snapshots',
    when: snapshot.changed,
    ...{ owner: 'NEW.owner_id', type: snapshot.type, fields: snapshot.fields },
  }),
  trigger({
    name: 'webhook_snapshot_delete',
    on: 'DELETE ON snapshots',
    when: 'true',
    ...{ owner: 'OLD.owner_id', type: `'snapshot.deleted'`, fields: snapshot.lastFields },
  }),
  ...waysIn.map(({ table, kind, made, fields }) =>
    trigger({
      name: `webhook_${kind}_insert`,
      on: `INSERT ON ${table}`,
      when: made,
      ...{ owner: 'NEW.user_id', type: `'way_in.made'`, fields },
    }),
  ),
];

/** Removes the triggers, since a step of the schema may change tables that they name. */
export function dropWebhookTriggers(database: Database): void {
  for (const { name } of triggers) database.exec(`DROP TRIGGER IF EXISTS ${name}`);
}

/** Replaces the triggers with those of this service; leaves the same ones alone, and a schema without webhooks. */
function createWebhookTriggers(database: Database): void {
  const find = database.prepare('SELECT sql FROM sqlite_schema WHERE name = :name');
  const sqlOf = (name: string) => find.get({ name })?.['sql'];
  if (sqlOf('webhooks') === undefined) return;
  const changed = triggers.filter(({ name, sql }) => sqlOf(name) !== sql);
  for (const { name, sql } of changed) database.exec(`DROP TRIGGER IF EXISTS ${name}; ${sql};`);
}

interface Trigger {
  name: string;
  sql: string;
}

interface TriggerParts {
  name: string;
  on: string;
  when: string;
  owner: string;
  type: string;
  fields: string;
}

function trigger({ name, on, when, owner, type, fields }: TriggerParts): Trigger {
  const sql = `CREATE TRIGGER ${name} AFTER ${on} FOR EACH ROW WHEN ${when} BEGIN
      INSERT INTO webhook_deliveries (id, webhook_id, type, data, created_at, state, attempts, due_at)
        SELECT 'msg_' || lower(hex(randomblob(16))), webhooks.id, ${type}, json_object(${fields}),
          CAST(unixepoch('subsec') * 1000 AS INTEGER), 'pending', 0, 0
        FROM webhooks WHERE ${hearsOf(owner, type)};
    END`;
  return { name, sql };
}
