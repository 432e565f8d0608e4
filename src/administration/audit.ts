/** Actions on audit rows. */
import { z } from 'zod';
import { withoutUndefined } from '../catalog/base/tool.ts';
import { integerWithDefault, text } from '../catalog/parameters/scalars.ts';
import { type AuditFilter, type AuditRow, auditOutcomes, auditTransports } from '../model/audit.ts';
import { SandhavenError } from '../model/errors.ts';
import { isTeamId, sandboxIdPattern } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { type ActionContext, defineAction } from './action.ts';
import { team } from './owners.ts';

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const AGO = /^(\d{1,6})([smhd])$/;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

const time = () =>
  text().refine(
    (given) => AGO.test(given) || (RFC_3339.test(given) && !Number.isNaN(Date.parse(given))),
    'must be a time such as 2026-01-31T12:00:00Z, or how long ago, such as 30m, 2h or 7d',
  );
const id = () => text().min(1).max(limits.audit.idChars);

const auditParameters = {
  since: time().optional().describe('From this time on: RFC 3339, or how long ago (30m, 2h, 7d).'),
  until: time().optional().describe('Before this time, written as since.'),
  user: text()
    .min(1)
    .max(limits.userEmailChars)
    .optional()
    .describe(
      'User ID or email: calls, and what admins read inside the sandboxes. A member sees only their own rows.',
    ),
  team: team
    .optional()
    .describe(
      'Team ID, also of a deleted team, or name: calls for it, and visits to its sandboxes. For admins.',
    ),
  key: id().optional().describe('ID of an API key (key_…) or of an access token (tok_…).'),
  action: id()
    .optional()
    .describe('A tool such as Sandbox.RunCommand, an action such as CreateUser, or one such as ssh.login.'),
  sandbox: text()
    .min(1)
    .max(limits.sandboxNameChars)
    .optional()
    .describe('Sandbox ID, also of a deleted sandbox, or the name of one of your own.'),
  outcome: z.enum(auditOutcomes).optional().describe('ok, cancelled, or the code of an error.'),
  limit: integerWithDefault('Most rows to return', limits.audit.list),
  after: z
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe(
      'Returns the first rows after this sequence (next_after of the previous answer), 0 for all (default: the last rows).',
    ),
  wait_seconds: integerWithDefault(
    'How long to wait for a row when there is none; above 0, rows of ListAudit itself do not count',
    limits.audit.waitSeconds,
  ),
};

/** Returns the time in ms since the epoch. */
export function timeOf(given: string, now: number): number {
  const [, count, unit = ''] = AGO.exec(given) ?? [];
  return count === undefined ? Date.parse(given) : now - Number(count) * (UNIT_MS[unit] ?? 0);
}

const rowOutput = z.looseObject({
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

const NAME = 'ListAudit';
const input = z.strictObject(auditParameters);

export const listAudit = defineAction({
  name: NAME,
  title: 'Read the audit log',
  description:
    'Lists calls with their caller, sandbox, outcome and duration, oldest first: the last rows, or with ' +
    'after those that follow a sequence. An admin sees all rows, a member their own calls, the SSH and preview visits ' +
    'to sandboxes of their own, and what an admin read inside these; visits to those of a team are an admin’s to see, by team.',
  role: 'member',
  command: 'audit list',
  input,
  output: z.looseObject({
    rows: z.array(rowOutput),
    next_after: z.int().describe('Pass it as after to continue.'),
    has_more: z.boolean(),
  }),
  async handler(parameters, context) {
    const { limit, after, wait_seconds: waitSeconds } = parameters;
    const filter = await filterOf(parameters, context);
    // A waiting caller's own last call would otherwise wake it.
    const query = { filter: waitSeconds > 0 ? { ...filter, exceptAction: NAME } : filter, limit };
    const page = await context.services.audit.list(
      { ...query, ...withoutUndefined({ after }) },
      waitSeconds * 1_000,
      context.signal,
    );
    return { rows: page.rows.map(toRowView), next_after: page.next, has_more: page.hasMore };
  },
  rows: ({ rows }) => rows.map(toTableRow),
});

async function filterOf(
  { since, until, user, team, key, action, sandbox, outcome }: z.output<typeof input>,
  context: ActionContext,
): Promise<AuditFilter> {
  const now = context.services.audit.now();
  return {
    ...withoutUndefined({
      since: since === undefined ? undefined : timeOf(since, now),
      until: until === undefined ? undefined : timeOf(until, now),
      userId: await userIdOf(user, context),
      teamId: await teamIdOf(team, context),
      sandboxId: await sandboxIdOf(sandbox, context),
    }),
    ...withoutUndefined({ keyId: key, action, outcome }),
  };
}

/**
 * Returns the user to filter by. A member gets only their own id; the error for others is the same for unknown users.
 */
async function userIdOf(
  user: string | undefined,
  { caller, services }: ActionContext,
): Promise<string | undefined> {
  if (caller.role === 'admin') return user === undefined ? undefined : services.userDeletions.idOf(user);
  if (user === undefined || user === caller.id || user.toLowerCase() === caller.email.toLowerCase()) {
    return caller.id;
  }
  throw new SandhavenError('permission_denied', 'Only an admin may see the rows of other users.', {
    parameter: 'user',
    hint: 'Leave user out to see your own rows.',
  });
}

/** Returns the team to filter by, also one that is deleted. The error for members is the same for unknown teams. */
async function teamIdOf(
  team: string | undefined,
  { caller, services }: ActionContext,
): Promise<string | undefined> {
  if (team === undefined) return undefined;
  if (caller.role === 'admin') return isTeamId(team) ? team : (await services.teams.find(team)).id;
  throw new SandhavenError('permission_denied', 'Only an admin may see the rows of a team.', {
    parameter: 'team',
    hint: 'Leave team out to see your own rows.',
  });
}

async function sandboxIdOf(
  sandbox: string | undefined,
  { caller, services }: ActionContext,
): Promise<string | undefined> {
  if (sandbox === undefined || sandboxIdPattern.test(sandbox)) return sandbox;
  return (await services.sandboxes.get(caller, sandbox)).id;
}

export const verifyAudit = defineAction({
  name: 'VerifyAudit',
  title: 'Verify the audit log',
  description:
    'Walks the whole chain of hashes and names the first rows that were changed, added or removed. A log that was ' +
    'restored as a whole, database and checkpoint together, differs only from an end_hash that was kept elsewhere.',
  role: 'admin',
  command: 'audit verify',
  input: z.strictObject({}),
  output: z.looseObject({
    intact: z.boolean(),
    rows_checked: z.int(),
    begins_after: z.int().describe('Rows through this sequence were removed because of their age.'),
    end_sequence: z.int(),
    end_hash: z.string(),
    events_lost: z.int().describe('Events known to be lost, because of a full disk for example.'),
    fault_count: z.int(),
    faults: z.array(
      z.looseObject({
        kind: z.enum(['changed', 'missing', 'unanchored']),
        sequence: z.int(),
        through: z.int(),
        meaning: z.string(),
      }),
    ),
  }),
  async handler(_parameters, { services, signal }) {
    const report = await services.audit.verify(signal);
    return {
      ...{ intact: report.intact, rows_checked: report.rowsChecked, begins_after: report.beginsAfter },
      ...{ end_sequence: report.end.sequence, end_hash: report.end.hash.toString('hex') },
      ...{ events_lost: report.eventsLost, fault_count: report.faultCount },
      faults: report.faults.map((fault) => ({ ...fault, meaning: meanings[fault.kind] })),
    };
  },
});

const meanings = {
  changed: 'The row differs from the one that the service wrote.',
  missing: 'Rows were removed.',
  unanchored:
    'The checkpoint was missing when the service started: rows just before this one may have been cut off.',
};
