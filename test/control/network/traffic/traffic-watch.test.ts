/** The watch of traffic, over an engine in memory: who is refused the network and when, and what outlives a restart. */
import { beforeEach, describe, expect, it } from 'vitest';
import { DayTraffic } from '../../../../src/control/network/traffic/day-traffic.ts';
import { OwnerQuotas } from '../../../../src/control/network/traffic/judgement.ts';
import { TrafficWatch } from '../../../../src/control/network/traffic/traffic-watch.ts';
import type { MachineTraffic, TrafficLimits } from '../../../../src/control/ports/index.ts';
import { dayOf, type SandboxTrafficLimits } from '../../../../src/model/network/traffic.ts';
import { type Quota, unlimited } from '../../../../src/model/quota.ts';

const GB = 1e9;

let now: number;
let machines: MachineTraffic[];
let limits: TrafficLimits;
let quota: Quota;
let stored: string | null;
let changed: string[];
let logged: string[];

beforeEach(() => {
  now = Date.parse('2026-01-05T23:00:00Z');
  machines = [];
  quota = unlimited;
  stored = null;
  changed = [];
  logged = [];
});

function open(each: Partial<SandboxTrafficLimits> = {}, uplinkMbps: number | null = null): TrafficWatch {
  const clock = { now: () => now };
  const log = { info() {}, warn: (message: string) => void logged.push(message), error() {} };
  return new TrafficWatch({
    traffic: {
      read: async () => machines.splice(0),
      limit: async (given) => {
        limits = given;
      },
      linkMbps: () => null,
    },
    notes: {
      read: () => stored,
      write: async (text) => {
        stored = text;
      },
    },
    day: new DayTraffic(dayOf(now)),
    quotas: new OwnerQuotas({ allowance: async (ownerId) => ({ ownerId, quota }) }, clock),
    each: { bandwidthMbps: null, connectionsPerSecond: 200, gbPerDay: null, ...each },
    uplinkMbps,
    changed: (id) => void changed.push(id),
    clock,
    log,
  });
}

const running = (id: string, gb = 0): MachineTraffic => {
  return {
    id,
    ownerId: 'user_a',
    isRunning: true,
    sentBytes: gb * GB,
    receivedBytes: 0,
    refusedConnections: 0,
  };
};

async function look(watch: TrafficWatch, ...next: MachineTraffic[]): Promise<void> {
  machines = next;
  await watch.look();
}

describe('a sandbox', () => {
  it('is refused the network from its last byte of the day on, and has it again with the next day', async () => {
    const watch = open({ gbPerDay: 5 });
    await look(watch, running('sb_1', 4), running('sb_2', 1));
    expect([...limits.refused]).toEqual([]);
    await look(watch, running('sb_1', 1), running('sb_2', 1));
    expect([...limits.refused]).toEqual(['sb_1']);
    expect(changed).toEqual(['sb_1']);
    expect(logged).toEqual(['a sandbox is refused the network until the next day']);
    expect(watch.reasonOf('sb_1')).toBe(
      "The sandbox has used up today's network traffic: the network is refused until 2026-01-06T00:00:00.000Z.",
    );
    expect(watch.reasonOf('sb_2')).toBeNull();
    now += 3_600_000;
    await look(watch, running('sb_1'), running('sb_2'));
    expect([...limits.refused]).toEqual([]);
    expect(changed).toEqual(['sb_1', 'sb_1']);
    expect(watch.reasonOf('sb_1')).toBeNull();
  });

  it('that was stopped and started again has not more', async () => {
    const watch = open({ gbPerDay: 5 });
    await look(watch, { ...running('sb_1', 5), isRunning: false });
    await look(watch);
    expect([...limits.refused]).toEqual(['sb_1']);
    await look(watch, running('sb_1'));
    expect(watch.reasonOf('sb_1')).toMatch(/^The sandbox has used up/);
  });

  it('is charged to its owner also when it ended between two looks', async () => {
    const watch = open();
    await look(watch, running('sb_1'));
    await look(watch, { ...running('sb_1', 2), ownerId: 'sb_1', isRunning: false });
    expect((await watch.of('sb_1', 'user_a')).ownerBytes).toBe(2 * GB);
  });
});

describe('an owner', () => {
  it('whose quota is used up has no network in any sandbox, later ones included', async () => {
    quota = { ...unlimited, traffic: 3 };
    const watch = open();
    await look(watch, running('sb_1', 2), running('sb_2', 1));
    expect([...limits.refused]).toEqual(['user_a']);
    await look(watch);
    expect([...limits.refused]).toEqual(['user_a']);
    await look(watch, running('sb_1'), running('sb_2'));
    expect(watch.reasonOf('sb_2')).toMatch(/^Its owner has used up today's network traffic/);
    expect(watch.figures).toMatchObject({ sentBytes: 3 * GB, refused: { owner: 2, sandbox: 0 } });
  });

  it('has its network again within five seconds of a higher quota', async () => {
    quota = { ...unlimited, traffic: 3 };
    const watch = open();
    await look(watch, running('sb_1', 3));
    quota = { ...unlimited, traffic: 4 };
    now += 5_000;
    await look(watch, running('sb_1'));
    expect([...limits.refused]).toEqual([]);
  });

  it('has rates of all sandboxes together', async () => {
    quota = { ...unlimited, bandwidth: 80, connections: 50 };
    await look(open(), running('sb_1'));
    expect(limits.owners.get('user_a')).toEqual({ bandwidth: 10_000_000, connectionsPerSecond: 50 });
  });

  it('has none where its quota is without', async () => {
    await look(open(), running('sb_1'));
    expect(limits.owners.size).toBe(0);
    expect(limits.divided).toBeNull();
  });

  it('has its part of a way out whose speed is known', async () => {
    await look(open({}, 80), running('sb_1'));
    expect(limits.divided?.sent).toEqual({ each: 4_750_000, rest: 9_500_000 });
  });
});

describe('a restart', () => {
  it('on the same day forgets nothing', async () => {
    const first = open({ gbPerDay: 5 });
    await look(first, running('sb_1', 5));
    await first.close();
    const second = open({ gbPerDay: 5 });
    machines = [running('sb_1')];
    second.begin();
    await expect.poll(() => [...limits.refused]).toEqual(['sb_1']);
    await second.close();
  });

  it('with a note that cannot be read counts anew, and says so', async () => {
    stored = '{"day":';
    const watch = open();
    watch.begin();
    await watch.close();
    expect(logged).toEqual(['the traffic of the day could not be read, and is counted anew']);
  });
});
