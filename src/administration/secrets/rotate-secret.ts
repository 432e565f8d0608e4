/** RotateSecret: replaces the value of a secret. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { laterExpiresInMinutes, secret, targets, value } from './parameters.ts';
import { secretOutput, secretRow, toSecretView } from './secret-view.ts';

export const rotateSecret = defineAction({
  name: 'RotateSecret',
  title: 'Replace the value of a secret',
  description:
    'Replaces the value, and the targets where they are given, which may be at any host then. In running sandboxes it is in ' +
    'force when the call ends, and their placeholders stay. unavailable: it is stored, and not in force everywhere yet.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'secrets rotate',
  argument: 'secret',
  words: 'targets',
  secret: 'value',
  input: z.strictObject({
    secret,
    value,
    targets: targets.optional(),
    expires_in_minutes: laterExpiresInMinutes,
  }),
  output: secretOutput,
  async handler({ secret: reference, value, targets, expires_in_minutes }, { services, caller }) {
    const change = { targets, expiresInMinutes: expires_in_minutes };
    return toSecretView(await services.secrets.rotate(caller, reference, value, change));
  },
  rows: (view) => [secretRow(view)],
});
