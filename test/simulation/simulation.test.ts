/**
 * The core under a seeded simulation: fresh seeds each time, and the seeds that once found something. A failure prints
 * how to run it again.
 */
import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Outcome, simulate } from './simulation.ts';

const SEEDS = 20;
const SEEDS_OF_REPLICAS = 20;
const STEPS = 5_000;
const first = randomInt(2 ** 31);

describe('the core', () => {
  it.each(Array.from({ length: SEEDS }, (_, at) => first + at))(
    'keeps every invariant from seed %i',
    { timeout: 60_000 },
    async (seed) => judge(await simulate(seed, STEPS)),
  );

  it.each(Array.from({ length: SEEDS_OF_REPLICAS }, (_, at) => first + at))(
    'keeps every invariant in several replicas, from seed %i',
    { timeout: 60_000 },
    async (seed) => judge(await simulate(seed, STEPS, 2 + (seed % 2)), 2 + (seed % 2)),
  );

  it('meets lost nodes, and starts their sandboxes again', { timeout: 120_000 }, async () => {
    const met = { settled: 0, startedAgain: 0 };
    for (let seed = first; met.settled === 0 || met.startedAgain === 0; seed++) {
      expect(seed).toBeLessThan(first + 60);
      const outcome = await simulate(seed, STEPS, 2);
      judge(outcome, 2);
      met.settled += outcome.lost.settled;
      met.startedAgain += outcome.lost.startedAgain;
    }
  });

  it('does the same again from the same seed', { timeout: 60_000 }, async () => {
    const [one, other] = [await simulate(first, 2_000), await simulate(first, 2_000)];
    expect(other).toEqual(one);
  });
});

function judge({ seed, steps, violation, trace, kills, calls }: Outcome, replicas = 1): void {
  if (violation === null) {
    expect({ kills: kills > 0, calls: calls > 0 }).toEqual({ kills: true, calls: true });
    return;
  }
  console.error(trace.join('\n'));
  expect.fail(`${violation}\nAgain: make simulate SEED=${seed} STEPS=${steps + 1} REPLICAS=${replicas}`);
}
