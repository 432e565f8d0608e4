/** Networks as E2B's clients ask for them: lists of what is denied and of what is allowed all the same. */
import { invalidArgument } from '../../../model/errors.ts';
import type { NetworkRequest } from '../../../model/network/setting.ts';
import type { DaytonaCall as Call } from '../../daytona/base/call.ts';
import { isAsked } from '../../daytona/base/errors.ts';
import { rulesOfRange } from '../../daytona/control/network.ts';
import { NotHere } from '../base/errors.ts';
import { idIn } from './answer.ts';

const EVERYTHING = '0.0.0.0/0';
const notHere = ['rules', 'egressProxy', 'maskRequestHost', 'httpsPorts'];

type Fields = Record<string, unknown>;

/** Returns undefined where nothing is denied. A list of what is allowed says nothing then. */
export function askedNetwork(network: Fields, allowsInternet: unknown): NetworkRequest | undefined {
  const field = notHere.find((name) => isAsked(network[name]));
  if (field !== undefined)
    throw new NotHere(`network.${field}: Networks have rules of addresses and names here.`);
  const denied = listIn(network, 'denyOut');
  const deniesAll = allowsInternet === false || denied.includes(EVERYTHING);
  if (!deniesAll && denied.length > 0)
    throw new NotHere(
      'network.denyOut: A network names what it allows here. Deny all traffic, and allow the rest.',
    );
  const allow = listIn(network, 'allowOut').flatMap((item) =>
    RANGE.test(item) ? rulesOfRange(item) : [item],
  );
  if (!deniesAll) return undefined;
  return allow.length > 0 ? { allow } : 'none';
}

/** PUT /sandboxes/{id}/network: all of it anew. */
export async function setNetwork(call: Call): Promise<void> {
  const network = askedNetwork(call.body, call.body['allow_internet_access']) ?? 'open';
  await call.action('SetNetwork', { sandbox: idIn(call), network });
}

/** An address, or a range of them. */
const RANGE = /^\d[\d.]*(?:\/\d+)?$/;

function listIn(network: Fields, name: string): string[] {
  const list = network[name] ?? [];
  if (Array.isArray(list) && list.every((item) => typeof item === 'string')) return list;
  throw invalidArgument(`network.${name}`, `network.${name} must be a list of texts.`);
}
