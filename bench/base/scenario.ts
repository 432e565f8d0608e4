/** Defines a scenario's input and outcome. */
import type { Docker } from './docker.ts';
import type { Rounds, Samples } from './interleave.ts';
import type { Sandhaven } from './sandhaven.ts';

export interface Bench {
  docker: Docker;
  /** Runs without a warm pool. */
  sandhaven: Sandhaven;
  /** Starts another service, with a fresh data directory. The caller disposes of it. */
  startAnother(warmPool: number, flags?: readonly string[]): Promise<Sandhaven>;
  /** Folder for the scenario's files; removed at the end. */
  folder: string;
  signal: AbortSignal;
  quick: boolean;
  /** Sandboxes that the service grows to in `thousand`. */
  count: number;
  /** Plans the given number of rounds, or fewer in a quick run. */
  rounds(counted: number, pauseMs?: number): Rounds;
}

export interface Outcome {
  samples: Samples;
  /** Explains a figure; goes into the results. */
  details?: Record<string, unknown>;
  /** Printed below the table. */
  notes?: string[];
}

export type Scenario = (bench: Bench) => Promise<Outcome>;
