/**
 * Step of the schema: webhooks, the queue of their events, and the last refusal of each quota. Triggers fill the queue in
 * the transaction of the change (`sqlite/store.ts`, `postgres/schema.ts`).
 */
import { limits } from '../../model/limits.ts';
import { deadlineReasons } from '../../model/sleep.ts';

export const webhookTables = `
  CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    owner_id TEXT REFERENCES users (id) ON DELETE CASCADE,
    created_by TEXT NOT NULL REFERENCES users (id),
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    secret BLOB NOT NULL,
    previous_secret BLOB,
    previous_until INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    disabled_at INTEGER,
    disabled_reason TEXT,
    failing_since INTEGER,
    last_attempt_at INTEGER,
    last_status INTEGER,
    last_error TEXT,
    dropped INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX webhooks_by_owner ON webhooks (owner_id);

  CREATE TABLE webhook_deliveries (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'dropped')),
    attempts INTEGER NOT NULL,
    due_at INTEGER,
    first_attempt_at INTEGER,
    last_attempt_at INTEGER,
    status INTEGER,
    error TEXT
  ) STRICT;
  CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, sequence);
  CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL;

  CREATE TABLE webhook_refusals (
    owner_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    quota TEXT NOT NULL,
    refused_at INTEGER NOT NULL,
    PRIMARY KEY (owner_id, quota)
  ) STRICT;
`;

/** True for a webhook that is enabled, and whose owner is; one for everybody needs its maker to be an admin. */
export const HEARS = `webhooks.disabled_at IS NULL AND EXISTS (
  SELECT 1 FROM users WHERE users.id = coalesce(webhooks.owner_id, webhooks.created_by)
    AND users.disabled_at IS NULL AND (webhooks.owner_id IS NOT NULL OR users.role = 'admin'))`;

/** True for a webhook that hears events of this type about this owner; both are expressions. */
export function hearsOf(owner: string, type: string): string {
  return `(webhooks.owner_id = ${owner} OR webhooks.owner_id IS NULL)
    AND webhooks.events LIKE '%"' || ${type} || '"%' AND ${HEARS}`;
}

/** Changes of rows that are events, as conditions and expressions over OLD and NEW of a trigger. */
export const heard = {
  sandbox: {
    /** A sandbox is there once its creation has ended, and one of the warm pool once it has an owner. */
    changed: `NEW.owner_id IS NOT NULL AND NEW.operation IS DISTINCT FROM 'creating'
      AND (NEW.state <> OLD.state OR NEW.owner_id IS DISTINCT FROM OLD.owner_id
        OR (OLD.operation = 'creating' AND NEW.operation IS NULL))`,
    type: `CASE WHEN OLD.owner_id IS NULL OR OLD.operation = 'creating' THEN 'sandbox.created'
      WHEN NEW.owner_id <> OLD.owner_id THEN 'sandbox.given' ELSE 'sandbox.' || NEW.state END`,
    removed: `OLD.owner_id IS NOT NULL AND OLD.operation IS DISTINCT FROM 'creating'`,
    fields: fields('sandbox_id', 'NEW', 'NEW.state', 'NEW.state_reason'),
    /** The reason of a stop that deletes, and that of a deadline, is the deletion's; any other one is of an earlier state. */
    lastFields: fields(
      ...(['sandbox_id', 'OLD', `'deleted'`] as const),
      `CASE WHEN OLD.operation = 'deleting' AND OLD.state_reason <> '${deadlineReasons.delete}' THEN NULL
        ELSE OLD.state_reason END`,
    ),
  },
  snapshot: {
    changed: `(NEW.state <> OLD.state AND NEW.state IN ('active', 'error')) OR NEW.owner_id <> OLD.owner_id`,
    type: `CASE WHEN NEW.owner_id <> OLD.owner_id THEN 'snapshot.given'
      WHEN NEW.state = 'active' THEN 'snapshot.ready' ELSE 'snapshot.failed' END`,
    fields: fields('snapshot_id', 'NEW', 'NEW.state', 'NEW.state_reason'),
    lastFields: fields('snapshot_id', 'OLD', `'deleted'`, 'NULL'),
  },
  /** New rows of these tables are ways in; an admin made those that name a maker. */
  waysIn: [
    { table: 'api_keys', kind: 'key', maker: 'NEW.created_by' },
    { table: 'sign_in_links', kind: 'sign_in_link', maker: 'NEW.created_by' },
    { table: 'identities', kind: 'identity', maker: 'NEW.linked_by' },
  ].map(({ maker, ...way }) => ({
    ...way,
    made: `${maker} IS NOT NULL`,
    fields: `'owner_id', NEW.user_id, 'kind', '${way.kind}', 'made_by', ${maker}`,
  })),
};

/** Arguments of a function that makes a JSON object. `state` and `reason` are expressions. */
function fields(id: string, row: 'OLD' | 'NEW', state: string, reason: string): string {
  const short = `substr(CAST(${reason} AS TEXT), 1, ${limits.webhooks.reasonChars})`;
  return `'${id}', ${row}.id, 'name', ${row}.name, 'owner_id', ${row}.owner_id,
    'state', ${state}, 'reason', ${short}`;
}
