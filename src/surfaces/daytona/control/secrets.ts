/**
 * Secrets of the caller, and those of a sandbox among them, as far as both sides have them. Theirs may go to any host and
 * anywhere in a request, have descriptions, and one placeholder for all sandboxes; ours have hosts, go out as a bearer token,
 * and have a placeholder for each sandbox.
 */
import { invalidArgument, notFound } from '../../../model/errors.ts';
import type { DaytonaCall, DaytonaRoute } from '../base/call.ts';
import { assertNone, isAsked, NotHere } from '../base/errors.ts';
import { answer, shown } from './sandbox-answer.ts';

const ONE = '/secret/:secret';

export const secretRoutes: readonly DaytonaRoute[] = [
  { method: 'GET', path: '/secret', handler: async (call) => (await secretsOf(call)).map(toSecret) },
  { method: 'GET', path: '/secret/paginated', handler: listPaginated },
  // Python's clients take the body of an answer with its own status alone.
  { method: 'POST', path: '/secret', status: 201, handler: create },
  { method: 'GET', path: ONE, handler: async (call) => toSecret(await secretIn(call)) },
  { method: 'PATCH', path: ONE, handler: update },
  { method: 'DELETE', path: ONE, status: 204, handler: remove },
  { method: 'PUT', path: '/sandbox/:sandbox/secrets', handler: replaceInSandbox },
];

/** As the actions show it. */
interface SecretView {
  secret_id: string;
  name: string;
  variable: string;
  targets: string[];
  created_at: string;
  updated_at: string;
}

const HTTPS = 'https://';

const refusals = { description: 'Secrets have no descriptions here.' };

/**
 * Returns the names of secrets that are asked for as `[{ VARIABLE: name }]`; undefined for none. Throws `NotHere` for another
 * variable than the secret's own, which it has in all sandboxes.
 */
export async function secretsFor(call: DaytonaCall, asked: unknown): Promise<string[] | undefined> {
  const pairs = pairsIn(asked);
  if (pairs.length === 0) return undefined;
  const secrets = await secretsOf(call);
  return pairs.map(([variable, name]) => {
    const secret = secrets.find((one) => one.name === name || one.secret_id === name);
    if (!secret) throw notFound('secret', `There is no secret '${name}'.`);
    if (secret.variable === variable) return secret.name;
    throw new NotHere(
      `The secret '${secret.name}' is in the variable ${secret.variable} of each sandbox that has it, and ${variable} was asked for.`,
    );
  });
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

async function replaceInSandbox(call: DaytonaCall): Promise<unknown> {
  const { id, secrets = [] } = await shown(call);
  const wanted = (await secretsFor(call, call.body['secrets'])) ?? [];
  const present = secrets.map(({ name }) => name);
  for (const secret of present.filter((name) => !wanted.includes(name))) {
    await call.action('TakeSecret', { sandbox: id, secret });
  }
  for (const secret of wanted.filter((name) => !present.includes(name))) {
    await call.action('GiveSecret', { sandbox: id, secret });
  }
  return answer(call, id);
}

async function secretsOf(call: DaytonaCall): Promise<SecretView[]> {
  const { secrets } = await call.action('ListSecrets', {});
  return secrets as SecretView[];
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

function pairsIn(asked: unknown): [variable: string, name: unknown][] {
  if (asked === undefined || asked === null) return [];
  if (Array.isArray(asked)) return asked.flatMap((pair) => Object.entries((pair ?? {}) as object));
  throw invalidArgument(
    'secrets',
    'secrets must be a list of objects from a variable to the name of a secret.',
  );
}
