/**
 * Statements of webhooks and of their queue, and what is read from their rows. The CHECKs of the schema guard simple
 * values; JSON is validated.
 */
import { z } from 'zod';
import {
  type Delivery,
  type DeliveryState,
  type SentEvent,
  type Webhook,
  webhookEvents,
} from '../../model/webhooks/webhook.ts';
import { type Dialect, type Row, statement } from '../sql/sql.ts';
import { HEARS, hearsOf } from '../sql/webhooks.ts';

const webhookColumns = `id, owner_id, created_by, url, events, created_at, updated_at, disabled_at, disabled_reason,
  previous_until, failing_since, last_attempt_at, last_status, last_error, dropped,
  (SELECT count(*) FROM webhook_deliveries
     WHERE webhook_id = webhooks.id AND due_at IS NOT NULL) AS queued`;
const deliveryColumns = `id, webhook_id, type, data, created_at, state, attempts, first_attempt_at,
  last_attempt_at, status, error, due_at, sequence`;

const OF_WEBHOOK = 'webhook_id = :id';
const PENDING = `${OF_WEBHOOK} AND due_at IS NOT NULL`;
const OVER = `${OF_WEBHOOK} AND due_at IS NULL`;
/** The newest event that gives way when so many newer ones are kept. */
const beyond = (which: string) =>
  `(SELECT sequence FROM webhook_deliveries WHERE ${which} ORDER BY sequence DESC LIMIT 1 OFFSET :most)`;

export function prepare({ lockingFree }: Dialect) {
  return {
    insert: statement(
      `INSERT INTO webhooks (id, owner_id, created_by, url, events, secret, created_at, updated_at)
         VALUES (:id, :owner, :created_by, :url, :events, :secret, :now, :now)`,
    ),
    count: statement(
      `SELECT count(*) AS total,
         coalesce(sum(CASE WHEN owner_id IS NOT DISTINCT FROM :owner THEN 1 ELSE 0 END), 0) AS own
       FROM webhooks`,
    ),
    list: statement(
      `SELECT ${webhookColumns} FROM webhooks WHERE owner_id IS NOT DISTINCT FROM :owner
         ORDER BY created_at, id`,
    ),
    get: statement(`SELECT ${webhookColumns} FROM webhooks WHERE id = :id`),
    change: statement(
      `UPDATE webhooks SET url = coalesce(:url, url), events = coalesce(:events, events), updated_at = :now
         WHERE id = :id`,
    ),
    enable: statement(
      'UPDATE webhooks SET disabled_at = NULL, disabled_reason = NULL, failing_since = NULL WHERE id = :id',
    ),
    disable: statement(
      `UPDATE webhooks SET disabled_at = coalesce(disabled_at, :now), disabled_reason = :reason
         WHERE id = :id`,
    ),
    sealed: statement('SELECT secret, previous_secret, previous_until FROM webhooks WHERE id = :id'),
    rotate: statement(
      `UPDATE webhooks SET secret = :secret, previous_secret = :previous, previous_until = :until,
         updated_at = :now WHERE id = :id`,
    ),
    remove: statement('DELETE FROM webhooks WHERE id = :id'),
    due: statement(
      `SELECT id, owner_id FROM webhooks WHERE ${HEARS} AND EXISTS (
         SELECT 1 FROM webhook_deliveries WHERE webhook_id = webhooks.id AND due_at <= :now)
       ORDER BY id`,
    ),
    excess: statement(
      `SELECT (SELECT count(*) FROM webhook_deliveries WHERE ${PENDING}) AS pending,
         (SELECT count(*) FROM webhook_deliveries WHERE ${OVER}) AS finished`,
    ),
    dropOldest: statement(
      `UPDATE webhook_deliveries SET state = 'dropped', due_at = NULL
         WHERE ${PENDING} AND sequence <= ${beyond(PENDING)}`,
    ),
    dropAll: statement(`UPDATE webhook_deliveries SET state = 'dropped', due_at = NULL WHERE ${PENDING}`),
    countDropped: statement('UPDATE webhooks SET dropped = dropped + :more WHERE id = :id'),
    forget: statement(`DELETE FROM webhook_deliveries WHERE ${OVER} AND sequence <= ${beyond(OVER)}`),
    take: statement(
      `UPDATE webhook_deliveries SET due_at = :until, attempts = attempts + 1, last_attempt_at = :now,
         first_attempt_at = coalesce(first_attempt_at, :now)
       WHERE sequence IN (SELECT sequence FROM webhook_deliveries WHERE ${OF_WEBHOOK} AND due_at <= :now
         ORDER BY sequence LIMIT :most ${lockingFree})
       RETURNING ${deliveryColumns}`,
    ),
    queue: statement(
      `INSERT INTO webhook_deliveries (id, webhook_id, type, data, created_at, state, attempts, due_at)
         VALUES (:delivery, :id, :type, :data, :now, 'pending', 0, 0)`,
    ),
    queueTaken: statement(
      `INSERT INTO webhook_deliveries (id, webhook_id, type, data, created_at, state, attempts, due_at,
           first_attempt_at, last_attempt_at)
         VALUES (:delivery, :id, :type, :data, :now, 'pending', 1, :until, :now, :now)
       RETURNING ${deliveryColumns}`,
    ),
    redeliver: statement(
      `UPDATE webhook_deliveries SET state = 'pending', due_at = 0, attempts = 0, first_attempt_at = NULL
         WHERE ${OVER} AND id = :delivery RETURNING ${deliveryColumns}`,
    ),
    deliveries: statement(
      `SELECT ${deliveryColumns} FROM webhook_deliveries WHERE ${OF_WEBHOOK}
         ORDER BY sequence DESC LIMIT :most`,
    ),
    settle: statement(
      `UPDATE webhook_deliveries SET state = :state, status = :status, error = :error, due_at = :next
         WHERE id = :delivery AND attempts = :attempts AND state = 'pending'`,
    ),
    attempted: statement(
      `UPDATE webhooks SET last_attempt_at = :now, last_status = :status, last_error = :error,
         failing_since = CASE WHEN :failed = 1 THEN coalesce(failing_since, :now) END WHERE id = :id`,
    ),
    hearers: statement(`SELECT id FROM webhooks WHERE ${hearsOf(':owner', `'quota.refused'`)}`),
    refuse: statement(
      `INSERT INTO webhook_refusals (owner_id, quota, refused_at) VALUES (:owner, :quota, :now)
         ON CONFLICT (owner_id, quota) DO UPDATE SET refused_at = excluded.refused_at
           WHERE webhook_refusals.refused_at <= :before
         RETURNING refused_at`,
    ),
  };
}

const events = z.array(z.enum(webhookEvents));
const fields = z.record(z.string(), z.unknown());

export function webhookIn(row: Row): Webhook {
  return {
    id: String(row['id']),
    ownerId: textIn(row['owner_id']),
    createdBy: String(row['created_by']),
    url: String(row['url']),
    events: events.parse(JSON.parse(String(row['events']))),
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    disabledAt: numberIn(row['disabled_at']),
    disabledReason: textIn(row['disabled_reason']),
    previousUntil: numberIn(row['previous_until']),
    failingSince: numberIn(row['failing_since']),
    lastAttemptAt: numberIn(row['last_attempt_at']),
    lastStatus: numberIn(row['last_status']),
    lastError: textIn(row['last_error']),
    dropped: Number(row['dropped']),
    queued: Number(row['queued']),
  };
}

export function deliveryIn(row: Row): Delivery {
  return {
    id: String(row['id']),
    webhookId: String(row['webhook_id']),
    type: String(row['type']) as SentEvent,
    // PostgreSQL writes a NUL of a reason as itself, which JSON does not take.
    data: fields.parse(JSON.parse(String(row['data']).replaceAll('\0', ''))),
    createdAt: Number(row['created_at']),
    state: row['state'] as DeliveryState,
    attempts: Number(row['attempts']),
    firstAttemptAt: numberIn(row['first_attempt_at']),
    lastAttemptAt: numberIn(row['last_attempt_at']),
    status: numberIn(row['status']),
    error: textIn(row['error']),
    nextAttemptAt: numberIn(row['due_at']),
  };
}

function numberIn(value: unknown): number | null {
  return value === null ? null : Number(value);
}

function textIn(value: unknown): string | null {
  return value === null ? null : String(value);
}
