/**
 * Keeps the use of started sandboxes, as the service's stream brings it: the last five minutes of each, in memory. A listener
 * hears of one sandbox alone, since a long list has many.
 */
import type { SandboxUsage } from '@sandhaven/sdk';

export interface UsageHistory {
  last: SandboxUsage;
  /** Percent of the limit, oldest first. */
  cpu: number[];
  memory: number[];
}

const MOST_SAMPLES = 60;

export class UsageHistories {
  readonly #histories = new Map<string, UsageHistory>();
  readonly #listeners = new Map<string, Set<() => void>>();

  /** Takes one turn of samples: a missing sandbox has stopped, or is over the service's bound. */
  take(samples: SandboxUsage[]): void {
    const ids = new Set(samples.map(({ id }) => id));
    for (const id of [...this.#histories.keys()].filter((known) => !ids.has(known))) {
      this.#histories.delete(id);
      this.#changed(id);
    }
    for (const sample of samples) {
      const before = this.#histories.get(sample.id);
      const { bytes, limit_bytes: limit } = sample.memory;
      this.#histories.set(sample.id, {
        last: sample,
        cpu: appended(before?.cpu, sample.cpu.percent),
        memory: appended(before?.memory, bytes === null ? null : (bytes / limit) * 100),
      });
      this.#changed(sample.id);
    }
  }

  get(id: string): UsageHistory | null {
    return this.#histories.get(id) ?? null;
  }

  /** @returns a function that ends it. */
  follow(id: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(id);
    };
  }

  #changed(id: string): void {
    for (const listener of this.#listeners.get(id) ?? []) listener();
  }
}

function appended(values: number[] = [], value: number | null): number[] {
  return value === null ? values : [...values, value].slice(-MOST_SAMPLES);
}
