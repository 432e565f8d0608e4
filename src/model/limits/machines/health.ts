/** Bounds of the health of a service as it shows it. */

export const healthLimits = {
  health: {
    /** Pause between two samples, and the number that is kept: half an hour. */
    sampleMs: 30_000,
    samples: 60,
    /** Age of the doctor's findings that are shown again. */
    doctorMs: 60_000,
  },
} as const;
