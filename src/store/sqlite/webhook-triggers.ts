/** Triggers of SQLite that queue events for webhooks, in the transaction of the change that they are about. */
import { heard, hearsOf } from '../sql/webhooks.ts';
import type { Database } from './database.ts';

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
export function createWebhookTriggers(database: Database): void {
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
