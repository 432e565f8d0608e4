/** Places of secrets in requests, as people write them: `bearer`, `header:NAME[:FORMAT]`, `query:NAME`, `basic[:USER]`, `aws`. */
import { invalidArgument, type SandhavenError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { SecretPlace } from './use.ts';

const SLOT = '{secret}';
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const QUERY = /^[A-Za-z0-9._~-]+$/;
const PRINTABLE = /^[ -~]+$/;
/** Headers that say where a message goes and ends: a value in them would change the request itself. */
const FRAMING =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/;

/** Throws `invalid_argument` naming the parameter. */
export function parsePlace(parameter: string, given: string): SecretPlace {
  const text = given.trim();
  const [, kind = '', rest] = /^([a-z]+)(?::(.*))?$/s.exec(text) ?? [];
  if (text.length > limits.secrets.placeChars) throw noPlace(parameter);
  if (kind === 'bearer' && rest === undefined) {
    return { in: 'header', name: 'authorization', format: `Bearer ${SLOT}` };
  }
  if (kind === 'aws' && rest === undefined) return { in: 'aws' };
  if (kind === 'basic') return { in: 'basic', username: usernameOf(parameter, rest) };
  if (kind === 'query' && QUERY.test(rest ?? '')) return { in: 'query', name: rest ?? '' };
  if (kind === 'header') return headerOf(parameter, rest ?? '');
  throw noPlace(parameter);
}

/** Returns the canonical form, which `parsePlace` parses to the same place. */
export function formatPlace(place: SecretPlace): string {
  if (place.in === 'aws') return 'aws';
  if (place.in === 'query') return `query:${place.name}`;
  if (place.in === 'basic') return place.username === null ? 'basic' : `basic:${place.username}`;
  const { name, format } = place;
  if (name === 'authorization' && format === `Bearer ${SLOT}`) return 'bearer';
  return format === SLOT ? `header:${name}` : `header:${name}:${format}`;
}

function headerOf(parameter: string, rest: string): SecretPlace {
  const at = rest.indexOf(':');
  const name = (at === -1 ? rest : rest.slice(0, at)).toLowerCase();
  const format = at === -1 ? SLOT : rest.slice(at + 1).trim();
  if (!TOKEN.test(name)) throw noPlace(parameter);
  if (FRAMING.test(name)) {
    throw invalidArgument(
      parameter,
      `The header '${name}' is part of how the request is sent, and holds no secret.`,
      'For example header:authorization, or header:x-api-key.',
    );
  }
  if (PRINTABLE.test(format) && format.split(SLOT).length === 2) return { in: 'header', name, format };
  throw invalidArgument(
    parameter,
    `The format of the header '${name}' needs ${SLOT} once, between printable characters of ASCII.`,
    `For example header:authorization:token ${SLOT}.`,
  );
}

function usernameOf(parameter: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  if (text !== '' && text.isWellFormed() && !/[\p{Cc}:]/u.test(text)) return text;
  throw invalidArgument(parameter, 'The user name must hold neither ":" nor control characters.');
}

function noPlace(parameter: string): SandhavenError {
  return invalidArgument(
    parameter,
    'A secret has a place in requests: bearer, header:NAME, header:NAME:FORMAT, query:NAME, basic, basic:USER or aws.',
    `For example header:x-api-key, or header:authorization:token ${SLOT}.`,
  );
}
