/** Summarizes a list of samples, robustly against the outliers of a shared machine. */

export interface Summary {
  count: number;
  median: number;
  p95: number;
  p99: number;
  min: number;
  max: number;
}

/** Throws for an empty list and for anything but finite numbers: neither is a measurement. */
export function summarize(samples: readonly number[]): Summary {
  if (samples.length === 0) throw new RangeError('no samples to summarize');
  if (!samples.every(Number.isFinite)) throw new RangeError(`not all finite: ${samples.join(', ')}`);
  const sorted = [...samples].sort((a, b) => a - b);
  return {
    count: sorted.length,
    median: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    p99: quantile(sorted, 0.99),
    min: quantile(sorted, 0),
    max: quantile(sorted, 1),
  };
}

/** Linear between the two nearest ranks. */
function quantile(sorted: readonly number[], fraction: number): number {
  const position = (sorted.length - 1) * fraction;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position % 1);
}
