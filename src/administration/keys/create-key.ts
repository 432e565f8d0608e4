/** CreateKey: creates an API key, and returns it once. */
import { z } from 'zod';
import { integerWithDefault } from '../../catalog/parameters/integer.ts';
import { text } from '../../catalog/parameters/text.ts';
import { scopes } from '../../model/access/scopes.ts';
import { limits } from '../../model/limits.ts';
import { defineAction } from '../action.ts';
import { team } from '../teams/parameters.ts';
import { user } from '../users/parameters.ts';
import { keyOutput, toKeyView } from './key-view.ts';

export const createKey = defineAction({
  name: 'CreateKey',
  title: 'Create an API key',
  description:
    'Creates a key for yourself. As an admin, for another user: the first way in of one who never came in or, where the ' +
    'operator lets admins read inside, any, which names you to the user. Returns it only once and stores only its hash.',
  role: 'member',
  command: 'keys create',
  argument: 'name',
  input: z.strictObject({
    name: text()
      .min(1)
      .max(limits.keyNameChars)
      .regex(/^[^\p{C}]+$/u, 'must not contain control characters')
      .describe('Purpose of the key.'),
    user: user.optional().describe('Owner: user ID or email (default: yourself).'),
    scopes: z
      .array(z.enum(scopes))
      .min(1)
      .max(scopes.length)
      .optional()
      .describe(`What the key may be used for; all that the owner may do when left out.`),
    team: team
      .optional()
      .describe('Team that the key is bound to: it acts for this team, and does nothing else.'),
    expires_in_minutes: integerWithDefault('Minutes until it expires, 0 for never', {
      ...{ min: 0, max: limits.keyMinutesMax, default: 0 },
    }),
  }),
  output: keyOutput.extend({ api_key: z.string() }),
  async handler(
    { user, name, team, scopes: wanted, expires_in_minutes: expiresInMinutes },
    { services, caller },
  ) {
    const created = await services.keys.create(caller, {
      ...{ user, name, team, expiresInMinutes },
      scopes: wanted ? [...new Set(wanted)] : null,
    });
    return { ...toKeyView(created), api_key: created.apiKey };
  },
});
