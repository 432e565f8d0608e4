/** GiveSecret and TakeSecret: which of the caller's secrets one of the caller's sandboxes uses. */
import { z } from 'zod';
import { sandbox } from '../../catalog/parameters/sandbox.ts';
import { defineAction } from '../action.ts';
import { secret } from './parameters.ts';
import { sandboxSecretsOutput, secretRow, toSandboxSecretsView } from './secret-view.ts';

const shared = {
  role: 'member',
  scope: 'sandboxes:write',
  argument: 'sandbox',
  words: 'secret',
  input: z.strictObject({ sandbox, secret }),
  output: sandboxSecretsOutput,
} as const;

export const giveSecret = defineAction({
  ...shared,
  name: 'GiveSecret',
  title: 'Give a sandbox a secret',
  description:
    'Lets one of your sandboxes use a secret, in any state. In a running one it is in force when the call ends; processes ' +
    'that start from then on have its variable. It makes no host reachable: the network of the sandbox does.',
  command: 'secrets give',
  async handler({ sandbox: reference, secret: wanted }, { services, caller }) {
    return toSandboxSecretsView(await services.sandboxSecrets.give(caller, reference, wanted));
  },
  rows: ({ secrets }) => secrets.map(secretRow),
});

export const takeSecret = defineAction({
  ...shared,
  name: 'TakeSecret',
  title: 'Take a secret from a sandbox',
  description:
    'Takes a secret from one of your sandboxes. No request of it carries the secret when the call ends; its placeholder ' +
    'stays in processes that have it, and stands for nothing.',
  command: 'secrets take',
  async handler({ sandbox: reference, secret: wanted }, { services, caller }) {
    return toSandboxSecretsView(await services.sandboxSecrets.take(caller, reference, wanted));
  },
  rows: ({ secrets }) => secrets.map(secretRow),
});
