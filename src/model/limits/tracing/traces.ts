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
