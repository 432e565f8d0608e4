/** The metrics with their targets, and the table that sets them side by side. */
import type { Samples, Side } from './interleave.ts';
import { summarize } from './statistics.ts';

export type Unit = 'ms' | 's' | 'MB' | 'MB/s' | '×';

export interface Target {
  /** Of ours to Docker's command line: the requirement. */
  ratio?: number;
  /** In the metric's unit, for a two-core machine at rest. */
  bound?: number;
}

export interface Metric {
  title: string;
  unit: Unit;
  better: 'lower' | 'higher';
  target: Target;
}

/** MB is 10^6 bytes. */
const lower = (title: string, unit: Unit, target: Target = {}): Metric => ({
  title,
  unit,
  better: 'lower',
  target,
});
const higher = (title: string, unit: Unit, target: Target = {}): Metric => ({
  title,
  unit,
  better: 'higher',
  target,
});

export const metrics = {
  createCold: lower('create to ready, cold', 'ms', { ratio: 1 / 4, bound: 80 }),
  createColdUsed: lower('create to first command, cold', 'ms'),
  createWarm: lower('create to ready, warm pool', 'ms', { ratio: 1 / 20, bound: 8 }),
  createWarmUsed: lower('create to first command, warm pool', 'ms'),
  remove: lower('delete', 'ms'),
  burst: lower('50 at once, ready and used', 's'),
  requestFloor: lower('doing nothing (request, CLI)', 'ms'),
  runCommand: lower('RunCommand true', 'ms', { ratio: 1 / 5, bound: 5 }),
  runCode: lower('RunCode print(1)', 'ms'),
  sessionCommand: lower('session command true', 'ms', { bound: 6 }),
  writeSmall: lower('1 KiB file written', 'ms', { bound: 2 }),
  readSmall: lower('1 KiB file read', 'ms', { bound: 2 }),
  upload: higher('100 MB in', 'MB/s', { bound: 300 }),
  download: higher('100 MB out', 'MB/s', { bound: 300 }),
  searchText: higher('search for text, faster than grep', '×', { bound: 3 }),
  searchWords: higher('search for words, faster than grep', '×', { bound: 3 }),
  searchExpression: higher('search for an expression, faster', '×', { bound: 3 }),
  searchClasses: higher('search for classes, faster than grep', '×', { bound: 3 }),
  gitStatus: lower('GitStatus, 10,000 files', 'ms'),
  gitStatusCost: lower('GitStatus beyond git itself', 'ms', { bound: 10 }),
  previewAdded: lower('a request through a preview, beyond a direct one', 'ms', { bound: 1 }),
  previewDownload: higher('300 MB out through a preview', 'MB/s', { bound: 300 }),
  sshExec: lower('SSH exec true on an open connection', 'ms', { bound: 10 }),
  sshDownload: higher('100 MB out over SSH', 'MB/s'),
  idleMemory: lower('host memory per idle sandbox', 'MB', { bound: 3 }),
  serviceMemory: lower('service RSS', 'MB', { bound: 150 }),
  agentSize: lower('agent binary', 'MB', { bound: 4 }),
} satisfies Record<string, Metric>;

export type MetricId = keyof typeof metrics;

export interface Row {
  id: MetricId;
  metric: Metric;
  medians: Partial<Record<Side, number>>;
  p95: number | null;
  /** Ours to Docker's command line. */
  ratio: number | null;
  /** null where there is no target, or nothing to hold against it. */
  ratioMet: boolean | null;
  boundMet: boolean | null;
}

/** One row for each metric that was measured, in the order of `metrics`. */
export function toRows(samples: Samples): Row[] {
  return (Object.keys(metrics) as MetricId[]).flatMap((id) => {
    const measured = samples[id];
    return measured ? [toRow(id, metrics[id], measured)] : [];
  });
}

function toRow(id: MetricId, metric: Metric, measured: Partial<Record<Side, number[]>>): Row {
  const summaries = Object.entries(measured).map(([side, values]) => [side, summarize(values)] as const);
  const medians: Row['medians'] = Object.fromEntries(summaries.map(([side, { median }]) => [side, median]));
  const { sandhaven, docker } = medians;
  const ratio = sandhaven !== undefined && docker !== undefined ? sandhaven / docker : null;
  return {
    id,
    metric,
    medians,
    p95: summaries.find(([side]) => side === 'sandhaven')?.[1].p95 ?? null,
    ratio,
    ratioMet: isMet(metric, metric.target.ratio, ratio),
    boundMet: isMet(metric, metric.target.bound, sandhaven ?? null),
  };
}

function isMet({ better }: Metric, target: number | undefined, value: number | null): boolean | null {
  if (target === undefined || value === null) return null;
  return better === 'lower' ? value <= target : value >= target;
}

export function renderTable(rows: readonly Row[]): string {
  const header = ['median', '', 'Sandhaven', 'p95', 'Docker', 'ratio', 'Docker API', 'target', 'met'];
  const cells = rows.map((row) => [
    row.metric.title,
    row.metric.unit,
    number(row.medians.sandhaven),
    number(row.p95),
    number(row.medians.docker),
    row.ratio === null ? '' : fraction(row.ratio),
    number(row.medians.dockerApi),
    targetText(row.metric),
    metText(row),
  ]);
  const widths = header.map((title, column) =>
    Math.max(title.length, ...cells.map((line) => line[column]?.length ?? 0)),
  );
  const toRight = (column: number) => column >= 2 && column <= 6;
  const line = (texts: string[]) =>
    texts
      .map((text, column) =>
        toRight(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}

function number(value: number | null | undefined): string {
  if (value === null || value === undefined) return '';
  const size = Math.abs(value);
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0);
}

function fraction(ratio: number): string {
  return ratio < 1 ? `1/${number(1 / ratio)}` : `${number(ratio)}×`;
}

function targetText({ better, target, unit }: Metric): string {
  const texts = [];
  if (target.ratio !== undefined) texts.push(`1/${Math.round(1 / target.ratio)}`);
  if (target.bound !== undefined) texts.push(`${better === 'lower' ? '≤' : '≥'} ${target.bound} ${unit}`);
  return texts.join(', ');
}

function metText({ ratioMet, boundMet }: Row): string {
  if (ratioMet === null && boundMet === null) return '';
  if (ratioMet !== false && boundMet !== false) return 'yes';
  if (ratioMet === true) return 'ratio yes, bound NO';
  if (boundMet === true) return 'ratio NO, bound yes';
  return 'NO';
}
