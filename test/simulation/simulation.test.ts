/**
 * The core under a seeded simulation: fresh seeds each time, and the seeds that once found something. A failure prints
 * how to run it again.
 */
import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Outcome, simulate } from './simulation.ts';

const SEEDS = 20;
const STEPS = 5_000;
const first = randomInt(2 ** 31);

describe('the core', () => {
  it.each(Array.from({ length: SEEDS }, (_, at) => first + at))(
    'keeps every invariant from seed %i',
    { timeout: 60_000 },
    async (seed) => judge(await simulate(seed, STEPS)),
  );

  it('does the same again from the same seed', { timeout: 60_000 }, async () => {
    const [one, other] = [await simulate(first, 2_000), await simulate(first, 2_000)];
    expect(other).toEqual(one);
  });
});

function judge({ seed, steps, violation, trace, kills, calls }: Outcome): void {
  if (violation === null) {
    expect({ kills: kills > 0, calls: calls > 0 }).toEqual({ kills: true, calls: true });
    return;
  }
  console.error(trace.join('\n'));
  expect.fail(`${violation}\nAgain: make simulate SEED=${seed} STEPS=${steps + 1}`);
}
