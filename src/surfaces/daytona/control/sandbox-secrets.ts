/** Secrets of a sandbox: at its creation, and replaced while it is there. */
import { invalidArgument, notFound } from '../../../model/errors.ts';
import type { DaytonaCall } from '../base/call.ts';
import { NotHere } from '../base/errors.ts';
import type { DaytonaRoute } from '../base/route.ts';
import { secretsOf } from './secrets.ts';
import { answer, shown } from './shown.ts';

export const sandboxSecretRoutes: readonly DaytonaRoute[] = [
  { method: 'PUT', path: '/sandbox/:sandbox/secrets', handler: replace },
];

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

async function replace(call: DaytonaCall): Promise<unknown> {
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

function pairsIn(asked: unknown): [variable: string, name: unknown][] {
  if (asked === undefined || asked === null) return [];
  if (Array.isArray(asked)) return asked.flatMap((pair) => Object.entries((pair ?? {}) as object));
  throw invalidArgument(
    'secrets',
    'secrets must be a list of objects from a variable to the name of a secret.',
  );
}
