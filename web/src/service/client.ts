/** The SDK's clients of this page: same origin, signed in by cookie. */
import { Sandhaven } from '@sandhaven/sdk';
import { actingTeam } from './acting-team.ts';
import { fetchOrTakeEarly } from './early-answers.ts';
import { pageHeaders } from './request.ts';

const options = { url: '', apiKey: null };
const team = actingTeam();

/** Headers of each request that acts for the team of this tab, if any. */
export const ownerHeaders: Readonly<Record<string, string>> =
  team === null ? pageHeaders : { ...pageHeaders, 'sandhaven-team': team };

/** Acts for the team of this tab, if any. */
export const client = new Sandhaven({
  ...options,
  headers: ownerHeaders,
  fetch: (path, init = {}) => fetchOrTakeEarly(String(path), init),
});

/** Acts for the user, whatever the team: the account is nobody else's. */
export const ownClient = new Sandhaven({ ...options, headers: pageHeaders });
