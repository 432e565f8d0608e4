/** ListSecrets: lists the secrets of the caller, never their values. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { secretOutput, secretRow, toSecretView } from './secret-view.ts';

export const listSecrets = defineAction({
  name: 'ListSecrets',
  title: 'List secrets',
  description: 'Lists your secrets by name, with their targets and times, never with their values.',
  role: 'member',
  scope: 'sandboxes:read',
  command: 'secrets list',
  input: z.strictObject({}),
  output: z.looseObject({ secrets: z.array(secretOutput) }),
  async handler(_, { services, caller }) {
    return { secrets: (await services.secrets.list(caller)).map(toSecretView) };
  },
  rows: ({ secrets }) => secrets.map(secretRow),
});
