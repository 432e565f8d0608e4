/** A metric as it is shown: one name, its help, and values read from the figures of the service. */
import type { DurationTally } from '../../../../control/base/tallies.ts';
import type { Figures } from '../../../../control/metrics.ts';

type Labels = Readonly<Record<string, string>>;

export interface Sample {
  labels: Labels;
  value: number;
  /** Continues the name of a histogram. */
  suffix?: '_bucket' | '_sum' | '_count';
}

export interface Family {
  name: `sandhaven_${string}`;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  /** Names of its labels, whose values are words of the code: no id, name or text of a user. */
  labels: readonly string[];
  /** Returns nothing where the service does not know the figure. */
  read(figures: Figures): readonly Sample[];
}

/** Returns a sample without labels; none for null. */
export function single(value: number | null | undefined): Sample[] {
  return value === null || value === undefined ? [] : [{ labels: {}, value }];
}

/** Returns the samples of one series of a histogram. */
export function histogram(tally: DurationTally, labels: Labels): Sample[] {
  const { bounds, count, sumSeconds } = tally;
  const buckets = tally
    .upTo()
    .map(
      (value, at): Sample => ({ labels: { ...labels, le: String(bounds[at]) }, value, suffix: '_bucket' }),
    );
  return [
    ...buckets,
    { labels: { ...labels, le: '+Inf' }, value: count, suffix: '_bucket' },
    { labels, value: sumSeconds, suffix: '_sum' },
    { labels, value: count, suffix: '_count' },
  ];
}

/** Formats of metrics that Prometheus reads, by their media types. Apart from the library that writes them: it is loaded at the first scrape. */
export const formats = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openMetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const;

export type Format = keyof typeof formats;
