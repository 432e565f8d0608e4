/** Stands what has no pool beside a claim from one. */
import type { Samples } from '../base/interleave.ts';
import type { MetricId } from '../base/metrics.ts';

/**
 * Docker has no pool: the same `docker run` stands beside a claim.
 * @param pairs Metric of a claim, and that of a creation from nothing.
 */
export function asWarmToo(samples: Samples, pairs: Partial<Record<MetricId, MetricId>>): Samples {
  const claims = Object.entries(pairs) as [MetricId, MetricId][];
  const both = claims.map(([warm, cold]) => [warm, { ...samples[cold], ...samples[warm] }]);
  return { ...samples, ...Object.fromEntries(both) };
}
