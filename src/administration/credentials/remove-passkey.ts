/** RemovePasskey: a passkey opens nothing any more. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { passkey } from './parameters.ts';
import { passkeyOutput, toPasskeyView } from './passkey-view.ts';

export const removePasskey = defineAction({
  name: 'RemovePasskey',
  title: 'Remove a passkey',
  description:
    'Removes one of your passkeys or, for an admin, any, such as that of a lost device. Browsers that it signed in stay so: RevokeOtherSignIns ends those. Once a user has no passkey, the password signs in, where there is one.',
  role: 'member',
  command: 'passkeys remove',
  argument: 'passkey',
  input: z.strictObject({ passkey }),
  output: passkeyOutput.extend({ removed: z.literal(true) }),
  async handler({ passkey: id }, { services, caller }) {
    const removed = await services.passkeys.remove(caller, id);
    return { ...toPasskeyView(removed), removed: true as const };
  },
});
