/** UpdateSecret: changes where requests carry a secret to, its variable and its end; not its value. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { laterExpiresInMinutes, secret, targets, variable } from './parameters.ts';
import { secretOutput, secretRow, toSecretView } from './secret-view.ts';

export const updateSecret = defineAction({
  name: 'UpdateSecret',
  title: 'Change a secret',
  description:
    'Changes what is given and leaves the rest; targets replace all earlier ones. In running sandboxes it is in force when ' +
    'the call ends. Targets at other hosts need the value again: RotateSecret. unavailable: it is stored, and not in force ' +
    'everywhere yet.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'secrets update',
  argument: 'secret',
  words: 'targets',
  input: z.strictObject({
    secret,
    targets: targets.optional(),
    variable: variable.optional(),
    expires_in_minutes: laterExpiresInMinutes,
  }),
  output: secretOutput,
  async handler({ secret: reference, expires_in_minutes, ...change }, { services, caller }) {
    const asked = { ...change, expiresInMinutes: expires_in_minutes };
    return toSecretView(await services.secrets.update(caller, reference, asked));
  },
  rows: (view) => [secretRow(view)],
});
