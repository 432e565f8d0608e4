/** Networks of machines: their traffic, counted and limited outside of them, and the networks that admins set for owners. */
import type { OwnerNetworks } from '../../model/network/setting.ts';
import type { TrafficCount } from '../../model/network/traffic.ts';

/** Traffic of one machine since the last reading. */
export interface MachineTraffic extends TrafficCount {
  id: string;
  /** As assigned; the machine's own id without an owner. */
  ownerId: string;
  /** false: it has ended since the last reading. */
  isRunning: boolean;
}

/** Rates of one owner's machines together; null for none. */
export interface OwnerRates {
  /** Bytes a second, each way. */
  bandwidth: number | null;
  connectionsPerSecond: number | null;
}

/**
 * Division of the way out in one direction, in bytes a second: each owner passes `each` in any case, and what owners have
 * beyond that shares `rest`.
 */
export interface Division {
  each: number;
  rest: number;
}

export interface TrafficLimits {
  /** Ids of machines, and of owners, that reach nothing. Later machines of these owners are among them at once. */
  refused: ReadonlySet<string>;
  owners: ReadonlyMap<string, OwnerRates>;
  /** null where nothing is divided. */
  divided: Record<'sent' | 'received', Division> | null;
}

export interface NetworkTraffic {
  /** Returns the traffic of each machine since the last call; what an earlier process has not read is in the first. */
  read(): Promise<MachineTraffic[]>;
  /** Puts limits in force, in place of those before. */
  limit(limits: TrafficLimits): Promise<void>;
  /** Returns the speed of this host's link to the outside; null where the kernel does not know it. */
  linkMbps(): number | null;
}

/** Place of the counts of a day, which outlive the service. */
export interface TrafficNotes {
  /** Returns null where there are none. */
  read(): string | null;
  write(text: string): Promise<void>;
}

/** Networks that admins have set for owners. */
export interface OwnerNetworkStore {
  /** Returns the installation's for an owner without any, and for an unknown one. */
  of(ownerId: string): Promise<OwnerNetworks>;
  /** Changes what is given. Returns null for an unknown owner. They go with their owner. */
  set(ownerId: string, change: Partial<OwnerNetworks>): Promise<OwnerNetworks | null>;
  /**
   * Returns the ids of the owner's sandboxes that run, or that an operation may bring up; but not those that are being
   * created, of which nobody knows yet.
   */
  running(ownerId: string): Promise<string[]>;
}
