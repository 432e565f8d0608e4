/** StopAnySandbox and DeleteAnySandbox: end the use of a sandbox of whichever owner, for admins. */
import { z } from 'zod';
import { textWithoutNul } from '../../catalog/parameters/text.ts';
import { limits } from '../../model/limits.ts';
import { sandboxStates } from '../../model/sandbox.ts';
import { defineAction } from '../action.ts';

const sandbox = textWithoutNul()
  .min(1)
  .max(limits.sandboxNameChars)
  .describe('ID, as ListAllSandboxes shows it: several owners may have one name.');

export const stopAnySandbox = defineAction({
  name: 'StopAnySandbox',
  title: "Stop anybody's sandbox",
  description:
    'Stops a sandbox of whichever owner; its disk stays, and its owner may start it again. An ephemeral one is deleted.',
  role: 'admin',
  command: 'everybody stop',
  argument: 'sandbox',
  input: z.strictObject({ sandbox }),
  output: z.looseObject({
    id: z.string(),
    name: z.string(),
    state: z.enum(sandboxStates),
    deleted: z.boolean(),
  }),
  handler: ({ sandbox: id }, { services }) => services.everybody.stop(id),
});

export const deleteAnySandbox = defineAction({
  name: 'DeleteAnySandbox',
  title: "Delete anybody's sandbox",
  description: 'Deletes a sandbox of whichever owner with its disk, for good, in any state.',
  role: 'admin',
  command: 'everybody delete',
  argument: 'sandbox',
  input: z.strictObject({ sandbox }),
  output: z.looseObject({ id: z.string(), name: z.string(), deleted: z.literal(true) }),
  async handler({ sandbox: id }, { services }) {
    return { ...(await services.everybody.delete(id)), deleted: true as const };
  },
});
