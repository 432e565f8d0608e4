/** Brings a SQLite file to the newest step of the schema. `user_version` of the file is the number of its last step. */
import { SandhavenError } from '../../model/errors.ts';
import { refuseNewer } from '../sql/newest-version.ts';
import { type Migration, migrations } from '../sql/schema.ts';
import type { Database } from './database.ts';
import { createWebhookTriggers, dropWebhookTriggers } from './webhook-triggers.ts';

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
