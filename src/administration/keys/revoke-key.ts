/** RevokeKey: ends a key for good. */
import { z } from 'zod';
import { text } from '../../catalog/parameters/text.ts';
import { limits } from '../../model/limits.ts';
import { defineAction } from '../action.ts';
import { keyOutput, keyRow, toKeyView } from './key-view.ts';

export const revokeKey = defineAction({
  name: 'RevokeKey',
  title: 'Revoke an API key',
  description:
    'Ends the key and its work in progress, for good; create a new key to replace it. Yours, ' +
    "or as an admin any user's.",
  role: 'member',
  command: 'keys revoke',
  argument: 'key_id',
  input: z.strictObject({
    key_id: text()
      .min(1)
      .max(limits.keyNameChars)
      .describe('ID of the key, as ListKeys shows it; not the key.'),
  }),
  output: keyOutput,
  async handler({ key_id }, { services, caller }) {
    return toKeyView(await services.keys.revoke(caller, key_id));
  },
  rows: (key) => [keyRow(key)],
});
