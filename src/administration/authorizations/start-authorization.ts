/** StartAuthorization: starts the caller's own authorization, by a device code or by a URL. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { providerOf, seconds, timeOf } from './parts.ts';

export const startAuthorization = defineAction({
  name: 'StartAuthorization',
  title: 'Authorize the service at the code-hosting provider',
  description:
    'Returns a code to enter at the provider (device), or a URL to open (browser); then call PollAuthorization. ' +
    'Clone, pull and push use the resulting tokens, and sandboxes that are given a secret of them: CreateProviderSecret.',
  role: 'member',
  command: 'auth start',
  input: z.strictObject({
    method: z.enum(['device', 'browser']).default('device').describe('Device code or browser URL.'),
  }),
  output: z.looseObject({
    authorization_id: z.string(),
    method: z.enum(['device', 'browser']),
    /** Page to open. */
    authorization_url: z.string(),
    /** Code to enter there; only for a device. */
    user_code: z.string().nullable(),
    expires_at: z.string(),
    /** Interval between two polls. */
    interval_seconds: z.int(),
  }),
  async handler({ method }, { services, caller }) {
    const authorizations = providerOf(services);
    if (method === 'browser') {
      const { id, url, expiresAt, intervalMs } = await authorizations.startBrowser(caller);
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
