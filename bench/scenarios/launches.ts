/**
 * Launches a hundred sandboxes in ComputeSDK's three modes, the benchmark that hosted sandboxes are compared by, from the
 * request to the answer of `node -v`. The service is as it is installed, with its warm pool.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { alignColumns, number } from '../base/columns.ts';
import type { Samples, Side } from '../base/interleave.ts';
import type { MetricId } from '../base/metrics.ts';
import type { Scenario } from '../base/scenario.ts';
import { summarize } from '../base/statistics.ts';
import { type Contender, ofApi, ofCommandLine, ofService } from '../launches/contender.ts';
import { type Launches, oneAfterAnother, together } from '../launches/modes.ts';

const COUNT = 100;
const COUNT_QUICK = 20;
const STAGGER_MS = 200;
const SETTLE_MS = 3_000;
/** The service's own default. */
const WARM_POOL = 4;

interface Mode {
  id: MetricId;
  title: string;
  launch(contender: Contender, count: number): Promise<Launches>;
}

const modes: readonly Mode[] = [
  { id: 'launchedSingly', title: 'one after another', launch: oneAfterAnother },
  {
    id: 'launchedStaggered',
    title: `one each ${STAGGER_MS} ms`,
    launch: (contender, count) => together(contender, count, STAGGER_MS),
  },
  { id: 'launchedTogether', title: 'at once', launch: (contender, count) => together(contender, count, 0) },
];

export const launches: Scenario = async (bench) => {
  const count = bench.quick ? COUNT_QUICK : COUNT;
  await using service = await bench.startAnother(WARM_POOL);
  const contenders: [Side, string, Contender][] = [
    ['sandhaven', 'Sandhaven', ofService(service)],
    ['docker', 'Docker', ofCommandLine(bench.docker)],
    ['dockerApi', 'Docker API', ofApi(bench.docker)],
  ];
  const samples: Samples = {};
  const details: Record<string, Launches> = {};
  const lines: string[][] = [];
  for (const { id, title, launch } of modes) {
    for (const [side, name, contender] of contenders) {
      bench.signal.throwIfAborted();
      await service.poolFull();
      await sleep(SETTLE_MS);
      const measured = await launch(contender, count);
      if (measured.times.length > 0) samples[id] = { ...samples[id], [side]: measured.times };
      details[`${title}, ${name}`] = measured;
      lines.push(lineOf(`${count} ${title}`, name, measured));
    }
  }
  const header = ['launches', '', 'p50 ms', 'p95 ms', 'p99 ms', 'failed', 'total s'];
  return { samples, details, notes: ['', alignColumns(header, lines, (column) => column >= 2), ''] };
};

function lineOf(title: string, name: string, { times, failures, totalMs }: Launches): string[] {
  const summary = times.length > 0 ? summarize(times) : null;
  return [
    ...[title, name, number(summary?.median), number(summary?.p95), number(summary?.p99)],
    ...[String(failures.length), number(totalMs / 1_000)],
  ];
}
