/**
 * Delay of the event loop: by how much turns come late. The histogram of Node counts the whole time between two looks, so its
 * resolution is taken off; a coarse one wakes an idle process less often.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 20;

export class LoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  begin(): void {
    this.#histogram.enable();
  }

  /** Begins a new series. */
  reset(): void {
    this.#histogram.reset();
  }

  close(): void {
    this.#histogram.disable();
  }

  /** Returns the 99th percentile of the series, to a tenth; null before its first look. */
  longestMs(): number | null {
    if (this.#histogram.count === 0) return null;
    const lateNs = this.#histogram.percentile(99) - RESOLUTION_MS * 1e6;
    return Math.max(0, Math.round(lateNs / 1e5) / 10);
  }
}
