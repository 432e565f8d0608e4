/**
 * `make simulate [SEED=n] [STEPS=n]`: runs the simulation, and prints how to run it again. Runs seeds one after another,
 * each of up to 10,000 steps, because a young world differs more than an old one.
 */
import { parseArgs } from 'node:util';
import { simulate } from './simulation.ts';

const STEPS_OF_A_SEED = 10_000;

const { values } = parseArgs({
  options: { seed: { type: 'string' }, steps: { type: 'string', default: '100000' } },
});
const steps = Number(values.steps);
const first = Number(values.seed || Math.floor(Math.random() * 2 ** 31));
if (!Number.isSafeInteger(steps) || steps < 1 || !Number.isSafeInteger(first)) {
  console.error('SEED and STEPS are whole numbers.');
  process.exit(2);
}

const begun = performance.now();
let done = 0;
let kills = 0;
for (let seed = first; done < steps; seed++) {
  const outcome = await simulate(seed, Math.min(STEPS_OF_A_SEED, steps - done));
  done += outcome.steps;
  kills += outcome.kills;
  if (outcome.violation !== null) {
    console.error(outcome.trace.join('\n'));
    console.error(`\nseed ${seed}, step ${outcome.steps}: ${outcome.violation}`);
    console.error(`Again: make simulate SEED=${seed} STEPS=${outcome.steps + 1}`);
    process.exit(1);
  }
  if ((seed - first) % 10 === 9) console.log(`${done} steps, ${kills} kills, up to seed ${seed}`);
}
const seconds = (performance.now() - begun) / 1_000;
console.log(`${done} steps from seed ${first} in ${seconds.toFixed(1)} s: ${kills} kills, nothing found.`);
