/** Bounds of what `/readyz` finds out. */
export const readinessLimits = {
  readiness: {
    /** For so long after a machine was made, nobody asks whether one can be made. */
    freshMs: 60_000,
    /** How long a failure is repeated before the next attempt. */
    failureKeptMs: 5_000,
    /** From the start of a trial machine to the answer of its agent. */
    trialTimeoutMs: 15_000,
  },
} as const;
