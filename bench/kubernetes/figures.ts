/** Samples by the metric that they belong to. */
import type { KubernetesMetric } from './report.ts';

export interface Figures {
  samples: Map<KubernetesMetric, number[]>;
  add(turn: Partial<Record<KubernetesMetric, number>>): void;
}

export interface Plan {
  quick: boolean;
  /** The number of rounds, or fewer in a quick run. */
  rounds(counted: number): number;
}

const QUICK_SHARE = 1 / 4;

export function planOf(quick: boolean): Plan {
  return { quick, rounds: (counted) => (quick ? Math.ceil(counted * QUICK_SHARE) : counted) };
}

export function figures(): Figures {
  const samples = new Map<KubernetesMetric, number[]>();
  return {
    samples,
    add(turn) {
      for (const [metric, value] of Object.entries(turn) as [KubernetesMetric, number][]) {
        samples.set(metric, [...(samples.get(metric) ?? []), value]);
      }
    },
  };
}
