/** Runs rounds in which every side has its turn, so that a drift of the machine's speed hits all of them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MetricId } from './metrics.ts';
import { ordersOf } from './rotation.ts';

/**
 * `docker` is the engine through its command line, `dockerApi` the same engine without it. `driver` is the database's
 * own driver in this process: the minimum cost of any tool server.
 */
export const sides = [
  'sandhaven',
  'docker',
  'dockerApi',
  'sandhavenStdio',
  'sandhavenHttp',
  'mongodbMcp',
  'driver',
] as const;
export type Side = (typeof sides)[number];

/** Figures of one turn, in the units of the metrics. */
export type Figures = Partial<Record<MetricId, number>>;

export type Samples = Partial<Record<MetricId, Partial<Record<Side, number[]>>>>;

export interface Rounds {
  /** Raised to whole cycles of the orders, unless it is less than one. */
  counted: number;
  /** Run first and not counted: caches, code paths and connections are then warm on every side. */
  warmUps: number;
  /** Pause between turns, so that one side's cleanup does not weigh on the next. */
  pauseMs: number;
  signal: AbortSignal;
}

type Turn = () => Promise<Figures>;

export async function interleave(rounds: Rounds, turns: Partial<Record<Side, Turn>>): Promise<Samples> {
  const samples: Samples = {};
  const orders = ordersOf(sides.flatMap((side) => (turns[side] ? [{ side, turn: turns[side] }] : [])));
  const isPart = rounds.counted < orders.length;
  const counted = isPart ? rounds.counted : Math.ceil(rounds.counted / orders.length) * orders.length;
  for (let round = -rounds.warmUps; round < counted; round++) {
    for (const { side, turn } of orders.at(round % orders.length) ?? []) {
      rounds.signal.throwIfAborted();
      const figures = await turn();
      if (round >= 0) addFigures(samples, side, figures);
      if (rounds.pauseMs > 0) await sleep(rounds.pauseMs);
    }
  }
  return samples;
}

/** Returns the duration of the work in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function addFigures(samples: Samples, side: Side, figures: Figures): void {
  for (const [name, figure] of Object.entries(figures) as [MetricId, number][]) {
    samples[name] ??= {};
    samples[name][side] ??= [];
    samples[name][side].push(figure);
  }
}
