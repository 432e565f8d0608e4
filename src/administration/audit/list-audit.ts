/** ListAudit: what was done, by whom. */
import { z } from 'zod';
import { present } from '../../catalog/present.ts';
import type { AuditFilter } from '../../model/audit.ts';
import { SandhavenError } from '../../model/errors.ts';
import { sandboxIdPattern } from '../../model/ids.ts';
import { type ActionContext, defineAction } from '../action.ts';
import { rowOutput, toRowView, toTableRow } from './audit-view.ts';
import { auditParameters, timeOf } from './parameters.ts';

const NAME = 'ListAudit';
const input = z.strictObject(auditParameters);

export const listAudit = defineAction({
  name: NAME,
  title: 'Read the audit log',
  description:
    'Lists who called what, on which sandbox, how it ended and how long it took, oldest first: the last rows, or with ' +
    'after the first rows behind a place. An admin sees all, a member what they did and what was done to their sandboxes over SSH and previews.',
  role: 'member',
  command: 'audit list',
  input,
  output: z.looseObject({
    rows: z.array(rowOutput),
    next_after: z.int().describe('Give it as after to go on.'),
    has_more: z.boolean(),
  }),
  async handler(parameters, context) {
    const { limit, after, wait_seconds: waitSeconds } = parameters;
    const filter = await filterOf(parameters, context);
    // Whoever waits would otherwise be woken by their own last call.
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
  { since, until, user, key, action, sandbox, outcome }: z.output<typeof input>,
  context: ActionContext,
): Promise<AuditFilter> {
  const now = context.services.audit.now();
  return {
    ...present({
      since: since === undefined ? undefined : timeOf(since, now),
      until: until === undefined ? undefined : timeOf(until, now),
      userId: await userIdOf(user, context),
      sandboxId: await sandboxIdOf(sandbox, context),
    }),
    ...present({ keyId: key, action, outcome }),
  };
}

/** A member's own, whether or not there is the user they ask for. */
async function userIdOf(
  user: string | undefined,
  { caller, services }: ActionContext,
): Promise<string | undefined> {
  if (caller.role === 'admin') return user === undefined ? undefined : (await services.users.find(user)).id;
  if (user === undefined || user === caller.id || user.toLowerCase() === caller.email.toLowerCase()) {
    return caller.id;
  }
  throw new SandhavenError('permission_denied', 'What others did is for admins to see.', {
    parameter: 'user',
    hint: 'Leave user out to see your own rows.',
  });
}

async function sandboxIdOf(
  sandbox: string | undefined,
  { caller, services }: ActionContext,
): Promise<string | undefined> {
  if (sandbox === undefined || sandboxIdPattern.test(sandbox)) return sandbox;
  return (await services.sandboxes.get(caller, sandbox)).id;
}
