/**
 * Resolves names that the operator gave, also those that only this host's own file has. The system's lookup waits in one of two
 * threads of the process, so each name has one lookup at a time, whoever wants it: a name server that never answers
 * holds one thread, and as many callers as there are wait for a bounded time.
 */
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { abortRace, within } from '../concurrency/deadline.ts';
import { limits } from '../model/limits.ts';
import { type Address, lookupBy, NotReached } from './addresses.ts';

const { operatorLookupMs } = limits.outbound;

type Ask = (host: string) => Promise<Address[]>;

export interface OperatorNames {
  /** Returns at least one address. Rejects with NotReached, and with the signal's reason. */
  find(host: string, signal?: AbortSignal): Promise<Address[]>;
  /** The same as a socket asks. */
  lookup: LookupFunction;
}

export function createOperatorNames(ask: Ask): OperatorNames {
  const pending = new Map<string, Promise<Address[]>>();

  function begin(host: string): Promise<Address[]> {
    const asked = ask(host)
      .catch((error: unknown) => {
        const code = error instanceof Error && 'code' in error ? error.code : '';
        throw new NotReached(host, code === 'ENOTFOUND' ? 'unknown' : 'failing', error);
      })
      .finally(() => pending.delete(host));
    pending.set(host, asked);
    return asked;
  }

  async function find(host: string, signal?: AbortSignal): Promise<Address[]> {
    signal?.throwIfAborted();
    const found = within(operatorLookupMs, pending.get(host) ?? begin(host), () => {
      throw new NotReached(host, 'silent');
    });
    return signal ? abortRace(found, signal) : found;
  }

  return {
    find,
    lookup: lookupBy(find),
  };
}

/** Of the process, as the threads are. */
export const operatorNames = createOperatorNames((host) => lookup(host, { all: true }));
