/** View of an audit row in actions. */
import { z } from 'zod';
import { type AuditRow, auditOutcomes, auditTransports } from '../../model/audit.ts';

export const rowOutput = z.looseObject({
  sequence: z.int(),
  time: z.string(),
  action: z.string(),
  outcome: z.enum(auditOutcomes),
  duration_ms: z.number(),
  user_id: z.string().nullable(),
  key_id: z.string().nullable(),
  sandbox_id: z.string().nullable(),
  team_id: z
    .string()
    .nullable()
    .describe(
      'Team that the caller acted for, or that owns the sandbox of a visitor; user inside whose sandboxes an admin ' +
        'read, or whose account an admin looked at or changed.',
    ),
  made_by: z
    .string()
    .nullable()
    .describe('Admin who made the key, or what the sign-in came by, for the caller; null for their own.'),
  transport: z.enum(auditTransports),
  client_address: z.string().nullable(),
  request_id: z.string().nullable(),
  count: z.int().nullable().describe('Of audit.gap: events not written; of audit.prune: rows removed.'),
  hash: z.string(),
});

export type AuditRowView = z.output<typeof rowOutput>;

export function toRowView(row: AuditRow): AuditRowView {
  const { sequence, time, action, outcome, durationMs, transport, count, hash } = row;
  return {
    ...{ sequence, time: new Date(time).toISOString(), action, outcome, duration_ms: durationMs },
    ...{ user_id: row.userId, key_id: row.keyId, sandbox_id: row.sandboxId },
    ...{ team_id: row.teamId ?? null, made_by: row.madeBy ?? null },
    ...{ transport, client_address: row.clientAddress, request_id: row.requestId },
    ...{ count, hash: hash.toString('hex') },
  };
}

/** Returns the row of a table, with the columns that people look for first. */
export function toTableRow(row: AuditRowView) {
  const { sequence, time, action, outcome, duration_ms, user_id, key_id, sandbox_id, team_id, made_by } = row;
  return {
    ...{ sequence, time, action: row.count === null ? action : `${action} (${row.count})`, outcome },
    ...{ ms: duration_ms, user: user_id, key: key_id, sandbox: sandbox_id, team: team_id },
    ...(made_by === null ? {} : { made_by }),
    ...{ by: row.transport, address: row.client_address, request: row.request_id },
  };
}
