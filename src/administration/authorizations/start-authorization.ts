/** StartAuthorization: the caller's own, by a device code or by a URL. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { providerOf, seconds, timeOf } from './parts.ts';

export const startAuthorization = defineAction({
  name: 'StartAuthorization',
  title: 'Begin to authorize the service at the code-hosting provider',
  description:
    'Gives a code to type in at the provider (device), or a URL to open (browser); then ask PollAuthorization. ' +
    'Clone, pull and push use what comes of it.',
  role: 'member',
  command: 'auth start',
  input: z.strictObject({
    method: z.enum(['device', 'browser']).default('device').describe('How a person allows it.'),
  }),
  output: z.looseObject({
    authorization_id: z.string(),
    method: z.enum(['device', 'browser']),
    /** Where to go. */
    authorization_url: z.string(),
    /** What to type in there; of a device alone. */
    user_code: z.string().nullable(),
    expires_at: z.string(),
    /** How long to wait between two polls. */
    interval_seconds: z.int(),
  }),
  async handler({ method }, { services, caller }) {
    const authorizations = providerOf(services);
    if (method === 'browser') {
      const { id, url, expiresAt, intervalMs } = authorizations.startBrowser(caller);
      return {
        ...{ authorization_id: id, method, authorization_url: url, user_code: null },
        ...{ expires_at: timeOf(expiresAt), interval_seconds: seconds(intervalMs) },
      };
    }
    const { id, verificationUrl, userCode, expiresAt, intervalMs } = await authorizations.startDevice(caller);
    return {
      ...{ authorization_id: id, method, authorization_url: verificationUrl, user_code: userCode },
      ...{ expires_at: timeOf(expiresAt), interval_seconds: seconds(intervalMs) },
    };
  },
});
