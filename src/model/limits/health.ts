/** Bounds of health, metrics and traces. */

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

/** Bounds of traces, so that a collector that is slow, or gone, costs spans and nothing else. */
export const tracesLimits = {
  traces: {
    /** Ended spans that wait for their export; more are dropped. */
    queuedSpans: 2_048,
    /** Of one request to the collector: their JSON, some 150 KB, is made in one turn of the event loop. */
    batchSpans: 256,
    /** Longest wait of an ended span for more of them. */
    delayMs: 2_000,
    /** Of one request to the collector, with its repetitions. */
    exportMs: 1_800,
    /** Requests at once: one while the service runs, and the whole queue at its end. */
    exportsAtOnce: 8,
    /** For the last spans, when the service ends. */
    flushMs: 2_000,
    /** Time between two warnings about lost spans. */
    warningMs: 60_000,
    /** Of one trace: a stream of events may stay open for days, and work all the time. */
    spansOfTrace: 512,
    attributes: 16,
    attributeChars: 128,
    /** Pairs in a variable of headers or attributes, and its length. */
    settings: 64,
    settingChars: 16_384,
  },
} as const;
