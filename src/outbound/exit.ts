/**
 * The way out for connections whose host a member or a stranger chooses. A name is resolved once, in the share of its owner;
 * the caller connects to the addresses that were decided about, and to no others.
 */
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { FairQueue } from '../fairness/fair-queue.ts';
import { limits } from '../model/limits.ts';
import { type AllowedHost, isNamed, mayConnect, type Target } from '../model/network/allowed-hosts.ts';
import { type Address, NotReached, type Reason } from './addresses.ts';
import { operatorNames } from './operator-names.ts';

export interface Errand {
  /** Hosts and networks besides public addresses. */
  allowed: readonly AllowedHost[];
  /** User or team, or the network of a stranger. */
  owner: string;
  signal?: AbortSignal | undefined;
}

export interface Exit {
  /**
   * Returns the addresses that a connection may use, at least one. Rejects with NotReached, with `resource_exhausted` when the
   * owner has too many lookups, and with the signal's reason.
   */
  addresses(target: Target, errand: Errand): Promise<Address[]>;
}

interface Sources {
  askServers(host: string, signal?: AbortSignal): Promise<Address[]>;
  findNamed(host: string, signal?: AbortSignal): Promise<Address[]>;
}

/** Loopback, of which no name server is asked (RFC 6761). */
const LOCALHOST: readonly Address[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

export function isLocalhost(host: string): boolean {
  return /^(?:.+\.)?localhost\.?$/.test(host);
}

/** One for the service: it divides the lookups among all owners. */
export function createExit({
  askServers: ask = askServers,
  findNamed = operatorNames.find,
}: Partial<Sources> = {}): Exit {
  const places = new FairQueue({ ...limits.outbound.lookups, what: 'names of hosts are being looked up' });

  async function resolve(host: string, { owner, signal }: Omit<Errand, 'allowed'>): Promise<Address[]> {
    const family = isIP(host);
    if (family !== 0) return [{ address: host, family }];
    if (isLocalhost(host)) return [...LOCALHOST];
    const leave = await places.take(owner, 1, signal);
    try {
      return await ask(host, signal);
    } finally {
      leave();
    }
  }

  return {
    async addresses(target, { allowed, owner, signal }) {
      const { host } = target;
      const named = isNamed(target, allowed);
      const found =
        named && isIP(host) === 0 ? await findNamed(host, signal) : await resolve(host, { owner, signal });
      // All of them: a name with one private address beside public ones is no honest one.
      if (named || found.every(({ address }) => mayConnect(address, allowed))) return found;
      throw new NotReached(host, 'private');
    },
  };
}

const { lookupMs, questionMs, rounds } = limits.outbound;

/**
 * Resolves names that members and strangers choose. The system's lookup waits in one of two threads that all lookups of the
 * process share, long after its caller has given up; these questions are sent over sockets, and closed with their caller.
 *
 * Asks for both kinds of addresses, and returns those of both. The name is absolute: no search list applies, nor the host's own
 * file. Rejects with NotReached without an address, and with the signal's reason.
 * @param servers In place of the host's.
 */
export async function askServers(
  host: string,
  signal?: AbortSignal,
  servers: readonly string[] | null = null,
): Promise<Address[]> {
  signal?.throwIfAborted();
  // Made for each question: it reads the host's resolv.conf, which may have changed.
  const resolver = new Resolver({ timeout: questionMs, tries: rounds });
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  const late = setTimeout(cancel, lookupMs);
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    signal?.throwIfAborted();
    const found = [...addressesOf(four, 4), ...addressesOf(six, 6)];
    if (found.length > 0) return found;
    throw notReached(host, [four, six]);
  } finally {
    clearTimeout(late);
    signal?.removeEventListener('abort', cancel);
  }
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: number): Address[] {
  if (answer.status === 'rejected') return [];
  return answer.value.map((address) => ({ address, family }));
}

/** A name is unknown only where nothing else was in the way. */
function notReached(host: string, answers: PromiseSettledResult<string[]>[]): NotReached {
  const failures = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  const reasons = failures.map(reasonOf);
  const reason = (['silent', 'failing'] as const).find((one) => reasons.includes(one)) ?? 'unknown';
  return new NotReached(host, reason, failures[0]);
}

/** Codes are those of c-ares; `ECANCELLED` comes of the deadline. */
function reasonOf(error: unknown): Reason {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME') return 'unknown';
  return code === 'ETIMEOUT' || code === 'ECANCELLED' ? 'silent' : 'failing';
}
