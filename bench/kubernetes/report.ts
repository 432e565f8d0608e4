/** Metrics of the bench on Kubernetes, their targets, and the table of a run. */
import { summarize } from '../base/statistics.ts';
import type { Figures } from './figures.ts';

export type CallName = 'GetSandbox' | 'RunCommand' | 'ReadFile' | 'ListSandboxes';
type Counted = CallName | 'CreateSandbox' | 'DeleteSandbox';
type Side = 'alone' | 'first' | 'second' | 'front';
export type KubernetesMetric =
  | keyof typeof singles
  | `${CallName}/${Side}`
  | `${Counted}/trips`
  | `${Counted}/statements`;

interface Single {
  title: string;
  unit: 'ms' | 's' | '';
  bound?: number;
}

const singles = {
  createCold: { title: 'create to ready, cold', unit: 'ms' },
  createColdUsed: { title: 'create to first command, cold', unit: 'ms' },
  bareWithDisk: { title: 'bare Pod with a disk, create to Ready', unit: 'ms' },
  barePod: { title: 'bare Pod, create to Ready', unit: 'ms' },
  remove: { title: 'delete', unit: 'ms' },
  createWarm: { title: 'create to ready, warm pool', unit: 'ms', bound: 60 },
  createWarmUsed: { title: 'create to first command, warm pool', unit: 'ms' },
  crowdSize: { title: 'sandboxes in a large pool, all created at once', unit: '' },
  crowdFilled: { title: 'that pool filled', unit: 's' },
  crowdEach: { title: 'creates at once from it, each', unit: 'ms' },
  crowdAll: { title: 'creates at once from it, all', unit: 's', bound: 3 },
} as const satisfies Record<string, Single>;

/** Highest ratio of a cold creation to a bare Pod with a disk. */
const COLD_RATIO = 1.2;
const COMMAND_MS = 8;
/** Most that a replica may add to a call of a single process. */
const REPLICA_MS = 1.5;

export interface Line {
  title: string;
  unit: string;
  p50: number;
  p90: number;
  max: number;
  count: number;
  target: string;
  met: boolean | null;
}

export function linesOf({ samples }: Figures): Line[] {
  const lines: Line[] = [];
  for (const [id, metric] of Object.entries(singles) as [keyof typeof singles, Single][]) {
    const values = samples.get(id);
    if (!values) continue;
    const p50 = summarize(values).median;
    const bare = samples.get('bareWithDisk');
    if (id === 'createCold' && bare) {
      const most = COLD_RATIO * summarize(bare).median;
      lines.push(line(metric, values, `≤ ${COLD_RATIO} × bare Pod`, p50 <= most));
    } else if (metric.bound === undefined) lines.push(line(metric, values));
    else lines.push(line(metric, values, `≤ ${metric.bound} ${metric.unit}`, p50 <= metric.bound));
  }
  return [
    ...lines,
    ...(['RunCommand', 'GetSandbox', 'ReadFile', 'ListSandboxes'] as const).flatMap((name) =>
      callLines(samples, name),
    ),
  ];
}

const sides: Record<Side, string> = {
  alone: 'a single process, SQLite',
  first: 'replica one of two',
  second: 'replica two of two',
  front: 'the front before both',
};

function callLines(samples: Figures['samples'], name: CallName): Line[] {
  const base = samples.get(`${name}/alone`);
  return (Object.entries(sides) as [Side, string][]).flatMap(([side, title]) => {
    const values = samples.get(`${name}/${side}`);
    if (!values || !base) return [];
    const metric = { title: `${name}, ${title}`, unit: 'ms' as const };
    const isReplica = side === 'first' || side === 'second';
    if (!isReplica) return [line(metric, values)];
    const p50 = summarize(values).median;
    const near = p50 <= summarize(base).median + REPLICA_MS;
    if (name !== 'RunCommand') return [line(metric, values, `≤ +${REPLICA_MS} ms`, near)];
    return [line(metric, values, `≤ +${REPLICA_MS} ms, ≤ ${COMMAND_MS} ms`, near && p50 <= COMMAND_MS)];
  });
}

function line({ title, unit }: Single, values: number[], target = '', met: boolean | null = null): Line {
  const { median, p90, max, count } = { ...summarize(values), p90: percentile(values, 0.9) };
  return { title, unit, p50: median, p90, max, count, target, met };
}

function percentile(values: number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(fraction * sorted.length) - 1)] ?? Number.NaN;
}

export interface DatabaseLine {
  call: string;
  roundTrips: number;
  statements: number;
}

export function databaseLinesOf({ samples }: Figures): DatabaseLine[] {
  const names: Counted[] = [
    'RunCommand',
    'ReadFile',
    'GetSandbox',
    'ListSandboxes',
    'CreateSandbox',
    'DeleteSandbox',
  ];
  return names.flatMap((call) => {
    const [trips, statements] = [samples.get(`${call}/trips`), samples.get(`${call}/statements`)];
    if (!trips || !statements) return [];
    return [{ call, roundTrips: summarize(trips).median, statements: summarize(statements).median }];
  });
}

export function render(lines: Line[], database: DatabaseLine[]): string {
  const number = (value: number) => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
  const met = (value: boolean | null) => (value === null ? '' : value ? 'yes' : 'NO');
  const timings = table(
    ['', '', 'p50', 'p90', 'max', 'n', 'target', 'met'],
    lines.map((one) => [
      ...[one.title, one.unit, number(one.p50), number(one.p90), number(one.max), String(one.count)],
      ...[one.target, met(one.met)],
    ]),
  );
  if (database.length === 0) return timings;
  const counts = table(
    ['until the answer', 'PostgreSQL, round trips', 'SQLite, statements'],
    database.map(({ call, roundTrips, statements }) => [call, String(roundTrips), String(statements)]),
  );
  return [timings, counts].join('\n\n');
}

function table(header: string[], rows: string[][]): string {
  const widths = header.map((title, at) =>
    Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const text = (cells: string[]) =>
    cells
      .map((cell, at) =>
        /^[\d.]+$/.test(cell) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [text(header), text(widths.map((width) => '-'.repeat(width))), ...rows.map(text)].join('\n');
}
