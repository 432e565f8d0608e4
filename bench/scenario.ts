/** What a scenario gets and gives. */
import type { Docker } from './docker.ts';
import type { Rounds, Samples } from './interleave.ts';
import type { Sandhaven } from './sandhaven.ts';

export interface Bench {
  docker: Docker;
  /** Without a warm pool. */
  sandhaven: Sandhaven;
  /** Another service, with a data directory that does not exist yet. The caller disposes of it. */
  startAnother(warmPool: number): Promise<Sandhaven>;
  /** For what a scenario needs on disk; removed at the end. */
  folder: string;
  signal: AbortSignal;
  quick: boolean;
  /** As many rounds as asked for, or fewer when it has to be quick. */
  rounds(counted: number, pauseMs?: number): Rounds;
}

export interface Outcome {
  samples: Samples;
  /** What explains a figure; goes into the results. */
  details?: Record<string, unknown>;
  /** Printed below the table. */
  notes?: string[];
}

export type Scenario = (bench: Bench) => Promise<Outcome>;
