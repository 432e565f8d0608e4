/** Wires the metrics: each part's numbers, and what users share of the parts. */
import { type MetricSources, Metrics, type ShareName } from '../../control/metrics.ts';
import type { Load } from '../../fairness/shares.ts';

export interface MetricsDependencies extends MetricSources {
  /** Shares of the control layer; surfaces add their own. */
  loads: Partial<Record<ShareName, Load>>;
}

export function wireMetrics({ loads, ...sources }: MetricsDependencies): Metrics {
  const metrics = new Metrics(sources);
  for (const [name, load] of Object.entries(loads)) metrics.loads.watch(name as ShareName, load);
  return metrics;
}
