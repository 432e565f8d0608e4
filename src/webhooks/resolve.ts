/**
 * Resolves the names of receivers. The system's own lookup waits in one of two threads that all lookups of the process share,
 * so a member's name server that never answers would hold up everybody else's; names of members are asked over sockets.
 */
import { lookup, Resolver } from 'node:dns/promises';
import type { Address } from '../model/network/pinned-lookup.ts';

const QUERY_MS = 2_000;
const TRIES = 2;

/** For names that the operator has allowed: also those that only this host's own file has. */
export function lookUp(host: string): Promise<Address[]> {
  return lookup(host, { all: true });
}

/** For all other names. Rejects when there is neither an IPv4 nor an IPv6 address. */
export async function query(host: string): Promise<Address[]> {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: TRIES });
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
  return [...addressesOf(four, 4), ...addressesOf(six, 6)];
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: number): Address[] {
  if (answer.status === 'rejected') return [];
  return answer.value.map((address) => ({ address, family }));
}
