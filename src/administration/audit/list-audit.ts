/** ListAudit: lists rows of the audit log. */
import { z } from 'zod';
import { present } from '../../catalog/present.ts';
import type { AuditFilter } from '../../model/audit.ts';
import { SandhavenError } from '../../model/errors.ts';
import { isTeamId, sandboxIdPattern } from '../../model/ids.ts';
import { type ActionContext, defineAction } from '../action.ts';
import { rowOutput, toRowView, toTableRow } from './audit-view.ts';
import { auditParameters, timeOf } from './parameters.ts';

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
      { ...query, ...present({ after }) },
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
    ...present({
      since: since === undefined ? undefined : timeOf(since, now),
      until: until === undefined ? undefined : timeOf(until, now),
      userId: await userIdOf(user, context),
      teamId: await teamIdOf(team, context),
      sandboxId: await sandboxIdOf(sandbox, context),
    }),
    ...present({ keyId: key, action, outcome }),
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
