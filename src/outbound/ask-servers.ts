/**
 * Resolves names that members and strangers choose. The system's lookup waits in one of two threads that all lookups of the
 * process share, long after its caller has given up; these questions are sent over sockets, and closed with their caller.
 */
import { Resolver } from 'node:dns/promises';
import { limits } from '../model/limits.ts';
import { NotReached, type Reason } from './failure.ts';
import type { Address } from './socket-lookup.ts';

const { lookupMs, questionMs, rounds } = limits.outbound;

/**
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
