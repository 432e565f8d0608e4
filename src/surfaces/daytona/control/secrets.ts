/**
 * Secrets of the caller, as far as both sides have them. Theirs may go to any host and anywhere in a request, have descriptions,
 * and one placeholder for all sandboxes; ours have hosts, go out as a bearer token, and have a placeholder for each sandbox.
 */
import { notFound } from '../../../model/errors.ts';
import type { DaytonaCall } from '../base/call.ts';
import { NotHere } from '../base/errors.ts';
import type { DaytonaRoute } from '../base/route.ts';
import { assertNone, isAsked } from './asked.ts';

const ONE = '/secret/:secret';

export const secretRoutes: readonly DaytonaRoute[] = [
  { method: 'GET', path: '/secret', handler: async (call) => (await secretsOf(call)).map(toSecret) },
  { method: 'GET', path: '/secret/paginated', handler: listPaginated },
  // Python's clients take the body of an answer with its own status alone.
  { method: 'POST', path: '/secret', status: 201, handler: create },
  { method: 'GET', path: ONE, handler: async (call) => toSecret(await secretIn(call)) },
  { method: 'PATCH', path: ONE, handler: update },
  { method: 'DELETE', path: ONE, status: 204, handler: remove },
];

/** As the actions show it. */
export interface SecretView {
  secret_id: string;
  name: string;
  variable: string;
  targets: string[];
  created_at: string;
  updated_at: string;
}

const HTTPS = 'https://';

const refusals = { description: 'Secrets have no descriptions here.' };

export async function secretsOf(call: DaytonaCall): Promise<SecretView[]> {
  const { secrets } = await call.action('ListSecrets', {});
  return secrets as SecretView[];
}

/** An owner has fewer secrets than a page of theirs, so there is one page. */
async function listPaginated(call: DaytonaCall): Promise<unknown> {
  const { name = '', sort = 'createdAt', order = 'desc' } = call.query;
  if (sort !== 'createdAt' || order !== 'desc') throw new NotHere('Secrets are listed newest first here.');
  const found = (await secretsOf(call)).filter((secret) => secret.name.includes(name));
  const newest = found.toSorted((one, other) => other.created_at.localeCompare(one.created_at));
  return { items: newest.map(toSecret), total: newest.length, nextCursor: null };
}

async function create(call: DaytonaCall): Promise<unknown> {
  const { name, value, hosts } = call.body;
  assertNone(call.body, refusals);
  const created = await call.action('CreateSecret', { name, value, targets: targetsOf(hosts) });
  return toSecret(created as unknown as SecretView);
}

async function update(call: DaytonaCall): Promise<unknown> {
  const { value, hosts } = call.body;
  assertNone(call.body, refusals);
  const { secret_id: secret } = await secretIn(call);
  const targets = hosts === undefined || hosts === null ? undefined : targetsOf(hosts);
  const changed = await (isAsked(value)
    ? call.action('RotateSecret', { secret, value, targets })
    : call.action('UpdateSecret', { secret, targets }));
  return toSecret(changed as unknown as SecretView);
}

async function remove(call: DaytonaCall): Promise<void> {
  await call.action('DeleteSecret', { secret: (await secretIn(call)).secret_id });
}

async function secretIn(call: DaytonaCall): Promise<SecretView> {
  const { secret: wanted } = call.params;
  const found = (await secretsOf(call)).find(
    ({ secret_id, name }) => secret_id === wanted || name === wanted,
  );
  if (found) return found;
  throw notFound('secret', `There is no secret '${wanted}'.`);
}

function targetsOf(hosts: unknown): unknown {
  if (!isAsked(hosts)) throw new NotHere('A secret goes to the hosts that it names here: give hosts.');
  return Array.isArray(hosts) ? hosts.map((host) => `${HTTPS}${host}`) : hosts;
}

function toSecret({ secret_id, name, variable, targets, created_at, updated_at }: SecretView) {
  return {
    ...{ id: secret_id, name, createdAt: created_at, updatedAt: updated_at },
    hosts: targets.map((target) => (target.startsWith(HTTPS) ? target.slice(HTTPS.length) : target)),
    // The text itself differs in each sandbox, and is there under this name.
    placeholder: `$${variable}`,
  };
}
