/** Lookups in the form in which sockets ask for them. */
import type { LookupFunction } from 'node:net';

export interface Address {
  address: string;
  family: number;
}

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
