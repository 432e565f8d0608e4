/**
 * `make simulate [SEED=n] [STEPS=n] [REPLICAS=n]`: runs the simulation, and prints how to run it again. Runs seeds one after another,
 * each of up to 10,000 steps, because a young world differs more than an old one.
 */
import { parseArgs } from 'node:util';
import { simulate } from './simulation.ts';

const STEPS_OF_A_SEED = 10_000;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    steps: { type: 'string', default: '100000' },
    replicas: { type: 'string', default: '1' },
  },
});
const steps = Number(values.steps);
const replicas = Number(values.replicas);
const first = Number(values.seed || Math.floor(Math.random() * 2 ** 31));
if (
  !Number.isSafeInteger(steps) ||
  steps < 1 ||
  !Number.isSafeInteger(first) ||
  !Number.isSafeInteger(replicas)
) {
  console.error('SEED, STEPS and REPLICAS are whole numbers.');
  process.exit(2);
}

const begun = performance.now();
let done = 0;
let kills = 0;
for (let seed = first; done < steps; seed++) {
  const outcome = await simulate(seed, Math.min(STEPS_OF_A_SEED, steps - done), replicas);
  done += outcome.steps;
  kills += outcome.kills;
  if (outcome.violation !== null) {
    console.error(outcome.trace.join('\n'));
    console.error(`\nseed ${seed}, step ${outcome.steps}: ${outcome.violation}`);
    console.error(`Again: make simulate SEED=${seed} STEPS=${outcome.steps + 1} REPLICAS=${replicas}`);
    process.exit(1);
  }
  if ((seed - first) % 10 === 9) console.log(`${done} steps, ${kills} kills, up to seed ${seed}`);
}
const seconds = (performance.now() - begun) / 1_000;
console.log(`${done} steps from seed ${first} in ${seconds.toFixed(1)} s: ${kills} kills, nothing found.`);
