/** Bounds of the warm pool, and the time scale on which it follows demand. */
export const warmPoolLimits = {
  warmPool: {
    /** The largest size that an operator can choose. */
    max: 100,
    /** Sandboxes that are made side by side: on this machine, which serves callers meanwhile, and on a cluster's nodes. */
    madeAtOnce: { host: 2, cluster: 8 },
    /** Time without a claim before a refill: it leaves the machine to a burst of claims. */
    refillDelayMs: 250,
    /** The longest wait for a refill, from the first claim on: under steady demand there is no such time. */
    postponedMs: 1_000,
    /** Pause after a refill that failed; claims do not shorten it. */
    retryMs: 10_000,
    /** Demand is counted in steps of this length. */
    stepMs: 5_000,
    /** Age at which demand is forgotten. */
    rememberedMs: 10 * 60_000,
    /** Time between the removals of two sandboxes that the pool does not need any more. */
    shrinkMs: 15_000,
    /** Latest makings, of which the longest counts as the time to make one. */
    makingsRemembered: 8,
    /** Demand here is collected for so long before the other replicas hear of it. */
    newsMs: 100,
    /** The most that one message of another replica counts for. */
    wantedPerNews: 10_000,
  },
} as const;
