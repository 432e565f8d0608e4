/** Parts of an installation on a cluster that die where they stand, and come back after a while. */
import { setTimeout as delay } from 'node:timers/promises';
import { between, type Random } from '../../support/random.ts';

export interface MortalPart {
  name: string;
  kill(): Promise<void>;
  /** Resolves when it works again. */
  start(): Promise<void>;
}

export interface Fault {
  /** Names of the parts that died. */
  parts: string[];
  downMs: number;
}

/** Longer than the ten seconds after which this cluster takes a node for dead. */
const MOST_DOWN_MS = 14_000;
const MOST_APART_MS = 3_000;

/** Kills one part, or in a third of all cases two, and resolves when they are back. */
export async function strike(random: Random, first: MortalPart, all: readonly MortalPart[]): Promise<Fault> {
  const others = all.filter(({ name }) => name !== first.name);
  const second = between(random, 0, 3) === 0 ? others[between(random, 0, others.length)] : undefined;
  const parts = second ? [first, second] : [first];
  const began = performance.now();
  for (const part of parts) {
    await part.kill();
    await delay(between(random, 0, MOST_APART_MS));
  }
  await delay(between(random, 200, MOST_DOWN_MS));
  // Another order than they died in, and both at once: a replica waits for its database.
  await Promise.all(parts.map((part) => part.start()));
  return { parts: parts.map(({ name }) => name), downMs: performance.now() - began };
}
