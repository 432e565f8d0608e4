/** Wires the watch of traffic, where the engine counts it. */

import type { Quotas } from '../../control/callers/quotas.ts';
import { DayTraffic } from '../../control/network/traffic/day-traffic.ts';
import { OwnerQuotas } from '../../control/network/traffic/judgement.ts';
import { TrafficWatch } from '../../control/network/traffic/traffic-watch.ts';
import type { Clock, Log, NetworkTraffic, TrafficNotes } from '../../control/ports/index.ts';
import { allBytes, dayOf, type TrafficOptions } from '../../model/network/traffic.ts';

export interface TrafficParts {
  traffic: NetworkTraffic | undefined;
  notes: TrafficNotes | null;
  options: TrafficOptions;
  changed(id: string): void;
  clock: Clock;
  log: Log;
}

export interface WiredTraffic {
  /** Returns the bytes of an owner's traffic of today. */
  ofOwner: ((ownerId: string) => number) | undefined;
  /** Returns null where the engine counts nothing. */
  watch(quotas: Quotas): TrafficWatch | null;
}

/** Quotas show the counts, and the watch asks for quotas: so it is made in a second step. */
export function wireTraffic({ traffic, notes, options, changed, clock, log }: TrafficParts): WiredTraffic {
  if (!traffic) return { ofOwner: undefined, watch: () => null };
  const day = new DayTraffic(dayOf(clock.now()));
  return {
    ofOwner: (ownerId) => allBytes(day.ofOwner(ownerId)),
    watch: (quotas) =>
      new TrafficWatch({
        ...{ traffic, day, notes, changed, clock, log },
        ...{ quotas: new OwnerQuotas(quotas, clock), each: options.each, uplinkMbps: options.uplinkMbps },
      }),
  };
}
