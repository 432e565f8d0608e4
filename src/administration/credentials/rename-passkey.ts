/** RenamePasskey: gives a passkey another name. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { name, passkey } from './parameters.ts';
import { passkeyOutput, toPasskeyView } from './passkey-view.ts';

export const renamePasskey = defineAction({
  name: 'RenamePasskey',
  title: 'Rename a passkey',
  description: 'Gives one of your passkeys another name.',
  role: 'member',
  command: 'passkeys rename',
  argument: 'passkey',
  input: z.strictObject({ passkey, name }),
  output: passkeyOutput,
  async handler({ passkey: id, name }, { services, caller }) {
    return toPasskeyView(await services.passkeys.rename(caller, id, name));
  },
});
