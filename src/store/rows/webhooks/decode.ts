/** Webhooks and their events, read from rows. The CHECKs of the schema guard simple values; JSON is validated. */
import { z } from 'zod';
import { type SentEvent, webhookEvents } from '../../../model/webhooks/events.ts';
import type { Delivery, DeliveryState, Webhook } from '../../../model/webhooks/webhook.ts';
import type { Row } from '../../sql/sql.ts';

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
