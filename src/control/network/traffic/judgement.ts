/** Sandboxes that have used up their day, the quotas of their owners, and the limits that follow. */
import { mapBounded } from '../../../concurrency/in-portions.ts';
import { limits } from '../../../model/limits.ts';
import {
  allBytes,
  bytesOf,
  bytesPerSecond,
  type SandboxTrafficLimits,
} from '../../../model/network/traffic.ts';
import type { Quota } from '../../../model/quota.ts';
import type { Quotas } from '../../callers/quotas.ts';
import type { Clock, MachineTraffic, OwnerRates, TrafficLimits } from '../../ports/index.ts';
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

/**
 * Quotas of owners whose sandboxes run, read again every few seconds: soon for those with traffic, later for others.
 */
export class OwnerQuotas {
  readonly #quotas: Pick<Quotas, 'allowance'>;
  readonly #clock: Clock;
  #known = new Map<string, { quota: Quota; readAt: number }>();

  constructor(quotas: Pick<Quotas, 'allowance'>, clock: Clock) {
    this.#quotas = quotas;
    this.#clock = clock;
  }

  /**
   * Returns the quota of each owner, at most 5 s old for those in `active`, at most a minute for others. An owner whose quota
   * cannot be read keeps the last one; one that was never read is left out.
   */
  async of(owners: Iterable<string>, active: ReadonlySet<string>): Promise<Map<string, Quota>> {
    const now = this.#clock.now();
    const { quotaMs, idleQuotaMs, quotasAtOnce } = limits.traffic;
    const all = [...new Set(owners)];
    const isOld = (id: string) => {
      const readAt = this.#known.get(id)?.readAt;
      return readAt === undefined || now - readAt >= (active.has(id) ? quotaMs : idleQuotaMs) || readAt > now;
    };
    const read = new Map(this.#known);
    await mapBounded(all.filter(isOld), quotasAtOnce, async (id) => {
      const { quota } = await this.#quotas.allowance(id).catch(() => ({ quota: null }));
      if (quota) read.set(id, { quota, readAt: now });
    });
    this.#known = new Map(
      all.flatMap((id) => [read.get(id)].flatMap((known) => (known ? [[id, known]] : []))),
    );
    return new Map([...this.#known].map(([id, { quota }]) => [id, quota]));
  }

  /** Returns the present quota of one owner. */
  async one(ownerId: string): Promise<Quota> {
    return (await this.#quotas.allowance(ownerId)).quota;
  }
}
