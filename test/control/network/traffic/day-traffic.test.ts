/** Counts of a day: who they are charged to, what outlives what, and what bounds them. */
import { describe, expect, it } from 'vitest';
import { DayTraffic } from '../../../../src/control/network/traffic/day-traffic.ts';
import type { MachineTraffic } from '../../../../src/control/ports/index.ts';

const monday = '2026-01-05';

function machine(id: string, ownerId: string, sentBytes: number, isRunning = true): MachineTraffic {
  return { id, ownerId, isRunning, sentBytes, receivedBytes: 2 * sentBytes, refusedConnections: 1 };
}

describe('the traffic of a day', () => {
  it('counts both ways, for a sandbox and for its owner', () => {
    const day = new DayTraffic(monday);
    day.add(monday, [machine('sb_1', 'user_a', 10), machine('sb_2', 'user_a', 5)]);
    day.add(monday, [machine('sb_1', 'user_a', 1)]);
    expect(day.ofSandbox('sb_1')).toEqual({ sentBytes: 11, receivedBytes: 22, refusedConnections: 2 });
    expect(day.ofOwner('user_a')).toEqual({ sentBytes: 16, receivedBytes: 32, refusedConnections: 3 });
    expect(day.ofOwner('user_b')).toEqual({ sentBytes: 0, receivedBytes: 0, refusedConnections: 0 });
  });

  it('has no owner for a machine that nobody owns', () => {
    const day = new DayTraffic(monday);
    day.add(monday, [machine('sb_1', 'sb_1', 10)]);
    expect(day.ofSandbox('sb_1').sentBytes).toBe(10);
    expect(day.ofOwner('sb_1').sentBytes).toBe(0);
  });

  it('begins anew with the next day', () => {
    const day = new DayTraffic(monday);
    day.add(monday, [machine('sb_1', 'user_a', 10)]);
    day.add('2026-01-06', [machine('sb_1', 'user_a', 3)]);
    expect(day.ofSandbox('sb_1').sentBytes).toBe(3);
    expect(day.ofOwner('user_a').sentBytes).toBe(3);
  });

  it('is taken up by another service on the same day alone', () => {
    const day = new DayTraffic(monday);
    day.add(monday, [machine('sb_1', 'user_a', 10)]);
    const same = new DayTraffic(monday);
    same.restore(day.toText());
    expect(same.ofOwner('user_a')).toEqual({ sentBytes: 10, receivedBytes: 20, refusedConnections: 1 });
    expect(same.ofSandbox('sb_1').receivedBytes).toBe(20);
    const next = new DayTraffic('2026-01-06');
    next.restore(day.toText());
    expect(next.ofOwner('user_a').sentBytes).toBe(0);
  });

  it('refuses a text that is cut off, and keeps its counts', () => {
    const day = new DayTraffic(monday);
    day.add(monday, [machine('sb_1', 'user_a', 10)]);
    expect(() => day.restore(day.toText().slice(0, 40))).toThrow();
    expect(() => day.restore('{"day":"2026-01-05","owners":[["user_a",-1]]}')).toThrow();
    expect(day.ofOwner('user_a').sentBytes).toBe(10);
  });

  it('keeps 5,000 sandboxes that ended, all that run, and the whole of each owner', () => {
    const day = new DayTraffic(monday);
    const running = machine('sb_running', 'user_a', 1);
    day.add(monday, [running]);
    const ended = Array.from({ length: 6_000 }, (_, i) => machine(`sb_${i}`, 'user_a', 1, false));
    day.add(monday, [...ended, running]);
    expect(day.ofSandbox('sb_running').sentBytes).toBe(2);
    expect(day.ofSandbox('sb_999').sentBytes).toBe(0);
    expect(day.ofSandbox('sb_1000').sentBytes).toBe(1);
    expect(day.ofOwner('user_a').sentBytes).toBe(6_002);
  });
});
