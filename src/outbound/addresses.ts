/** Addresses of a host in the form in which sockets ask for them, and reasons for which the service connects to none. */
import type { LookupFunction } from 'node:net';

export interface Address {
  address: string;
  family: number;
}

/**
 * private: an address is neither public nor allowed. unknown: the name is not there, or has no address. silent: no name server
 * answered in time. failing: the name servers answered with a failure.
 */
export type Reason = 'private' | 'unknown' | 'silent' | 'failing';

/** Answers every lookup with these checked addresses, at least one: a second answer of a resolver could name others. */
export function pinnedLookup(addresses: readonly Address[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };
}

/** Answers lookups with what `find` resolves to. */
export function lookupBy(find: (host: string) => Promise<Address[]>): LookupFunction {
  return (host, options, callback) => {
    find(host).then(
      (found) => pinnedLookup(found)(host, options, callback),
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}

export class NotReached extends Error {
  readonly reason: Reason;
  readonly code: string;

  constructor(host: string, reason: Reason, cause?: unknown) {
    super(words[reason](host), { cause });
    this.name = 'NotReached';
    this.reason = reason;
    this.code = codes[reason];
  }
}

const words: Record<Reason, (host: string) => string> = {
  private: (host) => `${host} has an address that is not public.`,
  unknown: (host) => `The host ${host} is not found.`,
  silent: (host) => `No name server answers for ${host}.`,
  failing: (host) => `The name servers cannot find ${host} now.`,
};

/** As the system's lookup has them, for those who report no more than a code. */
const codes: Record<Reason, string> = {
  ...{ private: 'EACCES', unknown: 'ENOTFOUND', silent: 'ETIMEOUT', failing: 'EAI_AGAIN' },
};
