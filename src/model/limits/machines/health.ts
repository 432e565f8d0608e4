/** Bounds of the health of a service as it shows it. */

export const healthLimits = {
  health: {
    /** Pause between two samples, and the number that is kept: half an hour. */
    sampleMs: 30_000,
    samples: 60,
    /** Age of the doctor's findings that are shown again. */
    doctorMs: 60_000,
    /** Findings that are kept, and characters of one text in them: they are less than what may wait for a slow client. */
    findings: 40,
    findingChars: 500,
    /** Pause between two looks for those who follow. */
    eventMs: 5_000,
  },
} as const;
