/** Health for those who follow it: for whom, and at what pace. */
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Health } from '../../../src/control/live/health.ts';
import { HealthEvents } from '../../../src/control/live/health-events.ts';
import type { Role } from '../../../src/model/user.ts';

let events: HealthEvents;
/** Looks that have begun. */
let looks: number;
/** What a look waits for, and what becomes of it. */
let outcome: () => Promise<void>;
let roles: Record<string, Role>;
let warnings: string[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  looks = 0;
  outcome = async () => {};
  roles = { ada: 'admin', eve: 'admin' };
  warnings = [];
  events = new HealthEvents({
    health: {
      async glance() {
        const total = ++looks;
        await outcome();
        return { sandboxes: { total, started: 0, paused: 0 } } as Health;
      },
    },
    roleOf: async (id) => roles[id] ?? 'member',
    log: { info() {}, warn: (text) => void warnings.push(text), error() {} },
  });
});

afterEach(() => {
  events.close();
  vi.useRealTimers();
});

/** Numbers of the looks that one who follows gets. */
function view(id: string) {
  const got: number[] = [];
  return { got, end: events.view({ id }, { health: ({ sandboxes }) => void got.push(sandboxes.total) }) };
}

/** Lets time pass, and what is ready come to its end. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  for (let at = 0; at < 3; at++) await turn();
}

describe('health for those who follow it', () => {
  it('is looked at for nobody, and no more once the last one has left', async () => {
    await pass(60_000);
    expect(looks).toBe(0);
    const [first, second] = [view('ada'), view('ada')];
    await pass(0);
    first.end();
    await pass(5_000);
    expect([first.got, second.got]).toEqual([[1], [1, 2]]);
    second.end();
    await pass(60_000);
    expect(looks).toBe(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is one look each five seconds for all of them, the first at once', async () => {
    const [ada, eve] = [view('ada'), view('eve')];
    await pass(0);
    await pass(4_999);
    expect([ada.got, eve.got]).toEqual([[1], [1]]);
    await pass(1);
    expect([ada.got, eve.got]).toEqual([
      [1, 2],
      [1, 2],
    ]);
    expect(looks).toBe(2);
  });

  it('is the last look’s at once for who comes later, without a look more', async () => {
    view('ada');
    await pass(3_000);
    const eve = view('eve');
    expect(eve.got).toEqual([1]);
    await pass(2_000);
    expect(eve.got).toEqual([1, 2]);
    expect(looks).toBe(2);
  });

  it('is a new look for who comes after all have left', async () => {
    const { end } = view('ada');
    await pass(0);
    end();
    const { got } = view('eve');
    expect(got).toEqual([]);
    await pass(0);
    expect(got).toEqual([2]);
  });

  it('waits for a slow look, and five seconds after its end looks again', async () => {
    const held = Promise.withResolvers<void>();
    outcome = () => held.promise;
    const ada = view('ada');
    await pass(60_000);
    const eve = view('eve');
    expect(looks).toBe(1);
    held.resolve();
    await pass(0);
    expect([ada.got, eve.got]).toEqual([[1], [1]]);
    await pass(4_999);
    expect(looks).toBe(1);
    await pass(1);
    expect(looks).toBe(2);
  });

  it('is not sent when a look fails, which is logged once until one succeeds', async () => {
    outcome = () => Promise.reject(new Error('the store is away'));
    const { got } = view('ada');
    await pass(0);
    await pass(5_000);
    expect(looks).toBe(2);
    const later = view('eve');
    expect([got, later.got]).toEqual([[], []]);
    expect(warnings).toEqual(['the health could not be looked at for those who follow it']);
    outcome = async () => {};
    await pass(5_000);
    expect(got).toEqual([3]);
    outcome = () => Promise.reject(new Error('again'));
    await pass(5_000);
    expect(warnings).toHaveLength(2);
  });

  it('ends for who is an admin no more', async () => {
    const [ada, eve] = [view('ada'), view('eve')];
    await pass(0);
    roles['eve'] = 'member';
    await pass(5_000);
    expect([ada.got, eve.got]).toEqual([[1, 2], [1]]);
    ada.end();
    eve.end();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends with the service, whatever a look waits for', async () => {
    const held = Promise.withResolvers<void>();
    outcome = () => held.promise;
    const { got } = view('ada');
    events.close();
    held.reject(new Error('closed'));
    await pass(60_000);
    expect(got).toEqual([]);
    expect(looks).toBe(1);
    expect(warnings).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
