/** CreateSecret: keeps a secret that requests of the caller's sandboxes may carry. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineAction } from '../action.ts';
import { expiresInMinutes, secretName, targets, value, variable } from './parameters.ts';
import { secretOutput, secretRow, toSecretView } from './secret-view.ts';

export const createSecret = defineAction({
  name: 'CreateSecret',
  title: 'Create a secret',
  description:
    'Keeps a secret, such as an API key, for your sandboxes. A sandbox that is given it holds a placeholder; the service puts ' +
    'the value into its requests to the targets, outside of the sandbox. Nothing shows the value again.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'secrets create',
  argument: 'name',
  words: 'targets',
  secret: 'value',
  input: z.strictObject({
    name: secretName,
    value,
    targets,
    place: z
      .string()
      .max(limits.secrets.placeChars)
      .default('bearer')
      .describe(
        'Where requests carry it: bearer, header:NAME, header:NAME:FORMAT with {secret}, query:NAME, basic, basic:USER or ' +
          'aws (default bearer).',
      ),
    variable: variable
      .optional()
      .describe('Environment variable that holds its placeholder inside (default: the name, upper case).'),
    expires_in_minutes: expiresInMinutes,
  }),
  output: secretOutput,
  async handler({ expires_in_minutes, ...request }, { services, caller }) {
    const asked = { variable: undefined, ...request, expiresInMinutes: expires_in_minutes };
    return toSecretView(await services.secrets.create(caller, asked));
  },
  rows: (view) => [secretRow(view)],
});
