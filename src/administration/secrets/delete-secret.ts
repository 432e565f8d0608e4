/** DeleteSecret: deletes a secret, also from running sandboxes. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { secret } from './parameters.ts';

export const deleteSecret = defineAction({
  name: 'DeleteSecret',
  title: 'Delete a secret',
  description:
    'Deletes a secret for good and takes it from all sandboxes; no request carries it when the call ends. unavailable: it ' +
    'is deleted, and still in force in a sandbox that could not be reached.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'secrets delete',
  argument: 'secret',
  input: z.strictObject({ secret }),
  output: z.looseObject({ secret_id: z.string(), name: z.string(), deleted: z.literal(true) }),
  async handler({ secret: reference }, { services, caller }) {
    const { id, name } = await services.secrets.remove(caller, reference);
    return { secret_id: id, name, deleted: true as const };
  },
});
