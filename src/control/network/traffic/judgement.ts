/** Sandboxes that have used up their day, and the limits that follow from quotas. */
import {
  allBytes,
  bytesOf,
  bytesPerSecond,
  type SandboxTrafficLimits,
} from '../../../model/network/traffic.ts';
import type { Quota } from '../../../model/quota.ts';
import type { MachineTraffic, OwnerRates, TrafficLimits } from '../../ports/index.ts';
import type { DayTraffic } from './day-traffic.ts';

/** Holder of the limit of the day that has been used up. */
export type UsedUp = 'sandbox' | 'owner';

export interface Rules {
  day: DayTraffic;
  /** Quotas by owner. */
  quotas: ReadonlyMap<string, Quota>;
  each: SandboxTrafficLimits;
}

/** Returns the sandboxes that are refused the network, of those that run. */
export function usedUpOf(machines: MachineTraffic[], { day, quotas, each }: Rules): Map<string, UsedUp> {
  return new Map(
    machines.flatMap(({ id, ownerId }): [string, UsedUp][] => {
      if (isOver(allBytes(day.ofOwner(ownerId)), quotas.get(ownerId)?.traffic)) return [[id, 'owner']];
      return isOver(allBytes(day.ofSandbox(id)), each.gbPerDay) ? [[id, 'sandbox']] : [];
    }),
  );
}

/**
 * Returns the limits for the engine. Refused are also sandboxes that do not run, and owners without any that runs: a start
 * gives nobody a moment of network.
 */
export function limitsOf({ day, quotas, each }: Rules): Pick<TrafficLimits, 'refused' | 'owners'> {
  const refused = new Set(each.gbPerDay === null ? [] : day.sandboxesFrom(bytesOf(each.gbPerDay)));
  const owners = new Map<string, OwnerRates>();
  for (const [id, { bandwidth = null, connections = null, traffic }] of quotas) {
    if (isOver(allBytes(day.ofOwner(id)), traffic)) refused.add(id);
    if (bandwidth === null && connections === null) continue;
    owners.set(id, {
      bandwidth: bandwidth === null ? null : bytesPerSecond(bandwidth),
      connectionsPerSecond: connections,
    });
  }
  return { refused, owners };
}

function isOver(bytes: number, gb: number | null | undefined): boolean {
  return gb !== null && gb !== undefined && bytes >= bytesOf(gb);
}
