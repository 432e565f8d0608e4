/**
 * The three modes of ComputeSDK's benchmark. A launch makes a place and waits for the answer of its first program. A
 * failed one is counted, and what it has made is removed like the others'.
 */
import type { Contender } from './contender.ts';
import { inTurns } from './in-turns.ts';

export interface Launches {
  /** Of each launch that succeeded, in milliseconds. */
  times: number[];
  failures: string[];
  /** From the first request to the last answer; one after another with the removals between. */
  totalMs: number;
}

const FIRST_PROGRAM = ['node', '-v'];

/** Removes each before the next. */
export async function oneAfterAnother(contender: Contender, count: number): Promise<Launches> {
  const launcher = createLauncher(contender);
  const begun = performance.now();
  for (let index = 0; index < count; index++) {
    await launcher.launch();
    await launcher.removeAll();
  }
  return launcher.ended(begun);
}

/** Begins one each `everyMs`; with 0 all at once. Removes them when the last has answered. */
export async function together(contender: Contender, count: number, everyMs: number): Promise<Launches> {
  const launcher = createLauncher(contender);
  const begun = performance.now();
  const one = async (index: number) => {
    if (everyMs > 0) await new Promise((resolve) => setTimeout(resolve, index * everyMs));
    await launcher.launch();
  };
  await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
  const launches = launcher.ended(begun);
  await launcher.removeAll();
  return launches;
}

function createLauncher({ create, run, remove }: Contender) {
  const times: number[] = [];
  const failures: string[] = [];
  const made: string[] = [];
  return {
    async launch(): Promise<void> {
      const begun = performance.now();
      try {
        const id = await create();
        made.push(id);
        await run(id, FIRST_PROGRAM);
        times.push(performance.now() - begun);
      } catch (error) {
        failures.push(String(error));
      }
    },
    removeAll: () => inTurns(made.splice(0), remove),
    ended: (begun: number): Launches => ({ times, failures, totalMs: performance.now() - begun }),
  };
}
