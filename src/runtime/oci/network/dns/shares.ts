/**
 * Shares of the DNS forwarder. Each machine has bounds on queries per second (UDP and TCP together), on queries that
 * wait for a resolver, and on connections. No owner keeps the whole, however many machines they have: when it is full,
 * an owner with few places takes one from the owner with most.
 */
import { Crowd } from '../../../../fairness/crowd.ts';
import { type Bucket, takeOne } from '../../../../fairness/rate.ts';
import { Shares } from '../../../../fairness/shares.ts';
import { limits } from '../../../../model/limits.ts';

const bounds = limits.network;
const rate = { perSecond: bounds.dnsQueriesPerSecond, burst: bounds.dnsQueryBurst };

export class DnsShares {
  /** Rates by address; at most one per slot. */
  readonly #rates = new Map<string, Bucket>();
  readonly waiting: DnsPlaces;
  readonly connections: DnsPlaces;

  constructor(ownerOf: (address: string) => string) {
    this.waiting = new DnsPlaces(bounds.dnsQueriesInFlight, bounds.dnsQueriesInFlightPerSandbox, ownerOf);
    this.connections = new DnsPlaces(bounds.dnsConnections, bounds.dnsConnectionsPerSandbox, ownerOf);
  }

  /** Takes one query from the rate and returns 0; otherwise returns the milliseconds until one is free. */
  query(address: string, now: number = performance.now()): number {
    const { bucket, waitMs } = takeOne(rate, this.#rates.get(address), now);
    this.#rates.set(address, bucket);
    return waitMs;
  }
}

class DnsPlaces {
  readonly #machines: Shares;
  readonly #owners: Crowd;
  readonly #ownerOf: (address: string) => string;

  constructor(total: number, perMachine: number, ownerOf: (address: string) => string) {
    this.#machines = new Shares({ total, perOwner: perMachine, what: 'places are taken' });
    this.#owners = new Crowd({ total, perGroup: total });
    this.#ownerOf = ownerOf;
  }

  /** Enters like `Crowd.enter`; returns null also when the machine has its whole share. */
  enter(address: string, evict: () => void): (() => void) | null {
    if (!this.#machines.hasShare(address, 1)) return null;
    let release = () => {};
    const leave = this.#owners.enter(this.#ownerOf(address), () => {
      release();
      evict();
    });
    if (!leave) return null;
    release = this.#machines.take(address);
    return () => {
      leave();
      release();
    };
  }
}
