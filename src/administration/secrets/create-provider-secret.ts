/** CreateProviderSecret: keeps a secret that stands for the caller's authorization at the code-hosting provider. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { noProvider } from '../authorizations/parts.ts';
import { expiresInMinutes, secretName, targets, variable } from './parameters.ts';
import { secretOutput, secretRow, toSecretView } from './secret-view.ts';

export const createProviderSecret = defineAction({
  name: 'CreateProviderSecret',
  title: 'Create a secret of your authorization',
  description:
    'Keeps a secret that stands for your authorization at the code-hosting provider, for sandboxes of your own. A sandbox that ' +
    'is given it calls the provider as you, with all that you have authorized, and does not get the token. The service renews ' +
    'the token; nothing carries it once the authorization is revoked.',
  role: 'member',
  forViewers: false,
  command: 'secrets create-provider',
  argument: 'name',
  words: 'targets',
  input: z.strictObject({
    name: secretName.default('github'),
    targets: targets
      .optional()
      .describe(
        "Requests that carry it, at the provider's API and its Git host (default all): GET https://api.github.com/repos/acme.",
      ),
    variable: variable
      .optional()
      .describe('Environment variable that holds its placeholder inside (default GITHUB_TOKEN).'),
    expires_in_minutes: expiresInMinutes,
  }),
  output: secretOutput,
  async handler({ name, targets, variable, expires_in_minutes }, { services, caller }) {
    if (!services.providerSecrets) throw noProvider();
    const asked = { name, targets, variable, expiresInMinutes: expires_in_minutes };
    return toSecretView(await services.providerSecrets.create(caller, asked));
  },
  rows: (view) => [secretRow(view)],
});
