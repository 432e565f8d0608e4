/** Connections that go to addresses which were checked before: a second answer of the resolver could name others. */
import type { LookupFunction } from 'node:net';

export interface Address {
  address: string;
  family: number;
}

/** Answers every lookup with these addresses, at least one, and asks no resolver. */
export function pinnedLookup(addresses: readonly Address[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };
}
