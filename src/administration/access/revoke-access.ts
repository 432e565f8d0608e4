/** RevokeAccess: revokes tokens of the SSH gateway and of previews. */
import { z } from 'zod';
import { sandbox } from '../../catalog/parameters/sandbox.ts';
import { defineAction } from '../action.ts';

const kinds = ['ssh', 'preview'] as const;

export const revokeAccess = defineAction({
  name: 'RevokeAccess',
  title: 'Revoke access to a sandbox',
  description:
    'Ends every SSH token, every signed preview URL and every standard preview token of one of your sandboxes, and ' +
    'their open connections, in any state of the sandbox. Standard previews get a new token: request it again.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'access revoke',
  argument: 'sandbox',
  input: z.strictObject({
    sandbox,
    kind: z.enum(kinds).optional().describe('Only SSH access, or only previews (default both).'),
  }),
  output: z.looseObject({
    sandbox: z.string(),
    ssh: z.int().describe('SSH tokens that had not expired.'),
    previews: z.int().describe('Signed URLs that had not expired.'),
    revoked: z.literal(true),
  }),
  async handler({ sandbox: reference, kind }, { services, caller }) {
    const { sandboxId, tokens } = await services.accessRevocation.revoke(
      caller,
      reference,
      kind === undefined ? kinds : [kind],
    );
    return { sandbox: sandboxId, ssh: tokens.ssh, previews: tokens.preview, revoked: true as const };
  },
});
