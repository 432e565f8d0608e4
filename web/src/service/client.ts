/** The SDK's clients of this page: same origin, signed in by cookie. */
import { Sandhaven } from '@sandhaven/sdk';
import { actingTeam } from './acting-team.ts';
import { pageHeaders } from './request.ts';

const options = { url: '', apiKey: null, headers: pageHeaders };
const team = actingTeam();

/** Acts for the team of this tab, if any. */
export const client = new Sandhaven(team === null ? options : { ...options, team });

/** Acts for the user, whatever the team: the account is nobody else's. */
export const ownClient = new Sandhaven(options);
