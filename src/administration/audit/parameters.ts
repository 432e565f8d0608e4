/** Parameters that select rows of the audit log. */
import { z } from 'zod';
import { integerWithDefault } from '../../catalog/parameters/integer.ts';
import { text } from '../../catalog/parameters/text.ts';
import { auditOutcomes } from '../../model/audit.ts';
import { limits } from '../../model/limits.ts';
import { team } from '../teams/parameters.ts';

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const AGO = /^(\d{1,6})([smhd])$/;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

const time = () =>
  text().refine(
    (given) => AGO.test(given) || (RFC_3339.test(given) && !Number.isNaN(Date.parse(given))),
    'must be a time such as 2026-01-31T12:00:00Z, or how long ago, such as 30m, 2h or 7d',
  );
const id = () => text().min(1).max(limits.audit.idChars);

export const auditParameters = {
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
