/** The watch of traffic in a driver's process, as a service has it, with quotas and a day that the test gives. */
import { DayTraffic } from '../../../src/control/network/traffic/day-traffic.ts';
import { OwnerQuotas } from '../../../src/control/network/traffic/judgement.ts';
import { TrafficWatch } from '../../../src/control/network/traffic/traffic-watch.ts';
import type { NetworkTraffic } from '../../../src/control/ports/index.ts';
import { type SandboxTrafficLimits, usualTraffic } from '../../../src/model/network/traffic.ts';
import { type Quota, unlimited } from '../../../src/model/quota.ts';
import { trafficNotes } from '../../../src/store/record-files.ts';

export interface WatchOptions {
  /** Owners by sandbox. */
  owners?: Record<string, string>;
  traffic?: SandboxTrafficLimits;
  /** Absent: nobody looks at the traffic. */
  watch?: {
    uplinkMbps?: number;
    quotas?: Record<string, Partial<Quota>>;
    notesFile: string;
    day: string;
  };
}

export function watchOf(traffic: NetworkTraffic, options: WatchOptions) {
  const { owners = {}, watch } = options;
  if (!watch) throw new Error('nothing to watch');
  let day = watch.day;
  const clock = { now: () => Date.parse(`${day}T12:00:00Z`) };
  const allowance = async (ownerId: string) => ({
    ownerId,
    quota: { ...unlimited, ...watch.quotas?.[ownerId] },
  });
  const say = (level: string) => (message: string, context?: object) =>
    void process.stderr.write(`${level} ${message} ${JSON.stringify(context ?? {})}\n`);
  const one = new TrafficWatch({
    ...{ traffic, clock, notes: trafficNotes(watch.notesFile), day: new DayTraffic(day) },
    ...{ each: options.traffic ?? usualTraffic.each, uplinkMbps: watch.uplinkMbps ?? null },
    quotas: new OwnerQuotas({ allowance }, clock),
    changed() {},
    log: { info: say('info'), warn: say('warn'), error: say('error') },
  });
  return {
    begin: () => one.begin(),
    look: () => one.look(),
    close: () => one.close(),
    of: (id: string) => one.of(id, owners[id] ?? id),
    setDay(next: string) {
      day = next;
    },
  };
}
