/** Uses of secrets are stored in batches. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SecretActivity } from '../../../src/control/secrets/secret-activity.ts';
import type { NetworkReport } from '../../../src/model/network/traffic.ts';

let stored: [string, number][][];
let warnings: string[];
let fails: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  [stored, warnings, fails] = [[], [], false];
});

afterEach(() => vi.useRealTimers());

const make = () =>
  new SecretActivity({
    store: {
      async noteUses(uses) {
        if (fails) throw new Error('the store is away');
        stored.push([...uses]);
      },
    },
    log: { info() {}, warn: (message) => void warnings.push(message), error() {} },
  });

const used = (secret: string | null, at: number): NetworkReport => ({
  ...{
    at,
    secret,
    sandbox: 'sb_1',
    kind: 'https',
    name: 'api.example.com',
    address: '203.0.113.7',
    port: 443,
  },
  ...{ rule: null, allowed: true, why: null, sent: 0, received: 0, ended: false },
});

it('with the latest time of each, half a minute after the first', async () => {
  const activity = make();
  activity.hear([used('se_1', 5), used(null, 9), used('se_2', 6), used('se_1', 4)]);
  activity.hear([{ sandbox: 'sb_1', dropped: 3 }, used('se_1', 8)]);
  await vi.advanceTimersByTimeAsync(29_999);
  expect(stored).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(stored).toEqual([
    [
      ['se_1', 8],
      ['se_2', 6],
    ],
  ]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored).toHaveLength(1);
});

it('at the end of the service, and not at all without any', async () => {
  const activity = make();
  await activity.flush();
  expect(stored).toEqual([]);
  activity.hear([used('se_1', 5)]);
  await activity.flush();
  expect(stored).toEqual([[['se_1', 5]]]);
});

it('for no more than 10,000 secrets at once', async () => {
  const activity = make();
  activity.hear(Array.from({ length: 10_001 }, (_, index) => used(`se_${index}`, 1)));
  activity.hear([used('se_0', 2)]);
  await activity.flush();
  expect(stored[0]).toHaveLength(10_000);
  expect(stored[0]?.[0]).toEqual(['se_0', 2]);
});

it('and a store that fails loses them with a warning', async () => {
  fails = true;
  const activity = make();
  activity.hear([used('se_1', 5)]);
  await activity.flush();
  expect(warnings).toEqual(['uses of secrets could not be stored']);
  fails = false;
  activity.hear([used('se_1', 6)]);
  await activity.flush();
  expect(stored).toEqual([[['se_1', 6]]]);
});
