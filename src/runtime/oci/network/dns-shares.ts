/**
 * What each machine may have of the forwarder: queries a second, by UDP and TCP together, queries that wait for a
 * resolver, and connections. The whole is never one machine's: when it is full, a machine that has little takes
 * the place of one that has most.
 */
import { Crowd } from '../../../model/crowd.ts';
import { limits } from '../../../model/limits.ts';
import { type Bucket, takeOne } from '../../../model/rate.ts';

const bounds = limits.network;
const rate = { perSecond: bounds.dnsQueriesPerSecond, burst: bounds.dnsQueryBurst };

export class DnsShares {
  /** By address: no more than there are slots. */
  readonly #rates = new Map<string, Bucket>();
  /** Aborting one answers it with a failure. */
  readonly waiting = new Crowd({
    total: bounds.dnsQueriesInFlight,
    perGroup: bounds.dnsQueriesInFlightPerSandbox,
  });
  readonly connections = new Crowd({
    total: bounds.dnsConnections,
    perGroup: bounds.dnsConnectionsPerSandbox,
  });

  /** Takes the right to one query; else how long until there is one. */
  query(address: string, now: number = performance.now()): number {
    const { bucket, waitMs } = takeOne(rate, this.#rates.get(address), now);
    this.#rates.set(address, bucket);
    return waitMs;
  }
}
