/** Bounds of the metrics of a service. */

export const metricsLimits = {
  metrics: {
    /** Names of tools and actions that are counted. */
    actions: 512,
    /** Age of an answer that is given again: scrapes within it cost one. */
    keptMs: 1_000,
    /** Longest wait for a figure that is not in memory; the answer then goes without it. */
    askMs: 1_000,
    /** Age of the promised disk space, a sum over all rows. */
    promisedKeptMs: 10_000,
  },
} as const;
