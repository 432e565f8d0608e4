/** Renders the sides' medians next to each other, with the targets met. */
import { alignColumns, number } from './columns.ts';
import type { Samples, Side } from './interleave.ts';
import { type Column, columnsOf, type Metric, type MetricId, metrics } from './metrics.ts';
import { summarize } from './statistics.ts';

export interface Row {
  id: MetricId;
  metric: Metric;
  medians: Partial<Record<Side, number>>;
  p95: number | null;
  /** Ratio of ours to the metric's rival. */
  ratio: number | null;
  /** null without a target, or without a rival's figure. */
  ratioMet: boolean | null;
  boundMet: boolean | null;
}

/** Returns one row for each measured metric, in the order of `metrics`. */
export function toRows(samples: Samples): Row[] {
  return (Object.keys(metrics) as MetricId[]).flatMap((id) => {
    const measured = samples[id];
    return measured ? [toRow(id, metrics[id], measured)] : [];
  });
}

function toRow(id: MetricId, metric: Metric, measured: Partial<Record<Side, number[]>>): Row {
  const summaries = Object.entries(measured).map(([side, values]) => [side, summarize(values)] as const);
  const medians: Row['medians'] = Object.fromEntries(summaries.map(([side, { median }]) => [side, median]));
  const { sandhaven, [metric.against]: other } = medians;
  // A difference may be zero or negative: a ratio would then be meaningless.
  const isComparable = sandhaven !== undefined && other !== undefined && sandhaven > 0 && other > 0;
  const ratio = isComparable ? sandhaven / other : null;
  return {
    id,
    metric,
    medians,
    p95: summaries.find(([side]) => side === 'sandhaven')?.[1].p95 ?? null,
    ratio,
    ratioMet: isMet(metric, metric.target.ratio, ratio),
    boundMet: isMet(metric, metric.target.bound, medians[metric.target.boundOf ?? 'sandhaven'] ?? null),
  };
}

function isMet({ better }: Metric, target: number | undefined, value: number | null): boolean | null {
  if (target === undefined || value === null) return null;
  return better === 'lower' ? value <= target : value >= target;
}

/** Renders a table for each rival. */
export function renderTables(rows: readonly Row[]): string {
  const rivals = [...new Set(rows.map(({ metric }) => metric.against))];
  return rivals
    .map((rival) =>
      renderTable(
        columnsOf[rival],
        rows.filter(({ metric }) => metric.against === rival),
      ),
    )
    .join('\n\n');
}

function renderTable([rival, ...others]: readonly Column[], rows: readonly Row[]): string {
  const header = ['median', '', 'Sandhaven', 'p95', rival, 'ratio', ...others, 'target', 'met'].map(
    (column) => (typeof column === 'string' ? column : (column?.title ?? '')),
  );
  const cells = rows.map((row) => [
    row.metric.title,
    row.metric.unit,
    number(row.medians.sandhaven),
    number(row.p95),
    number(row.medians[row.metric.against]),
    row.ratio === null ? '' : fraction(row.ratio),
    ...others.map(({ side }) => number(row.medians[side])),
    targetText(row.metric),
    metText(row),
  ]);
  return alignColumns(header, cells, (column) => column >= 2 && column < header.length - 2);
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
