/** Bounds of the readiness check behind `/readyz`. */
export const readinessLimits = {
  readiness: {
    /** Time after a machine's start in which no trial runs. */
    freshMs: 60_000,
    /** Time for which a failure is repeated before the next trial. */
    failureKeptMs: 5_000,
    /** Time between the start of a trial machine and its agent's answer. */
    trialTimeoutMs: 15_000,
  },
} as const;
