/** Bounds of the audit log. */

export const auditLimits = {
  audit: {
    /** Events are written at this number, or after this time. */
    batchRows: 100,
    batchMs: 200,
    /** Rows of one transaction, after a wait for a busy disk; the event loop waits for it. */
    rowsAtOnce: 1_000,
    /** Events in memory while none can be written; those above it are counted and dropped. */
    queuedRows: 10_000,
    /** Delay between a failed write and the next try. */
    retryMs: 5_000,
    /** Lag of the checkpoint behind the database. */
    checkpointMs: 1_000,
    /** Retention of rows; 0 keeps them for good. */
    keptDays: { min: 0, max: 3_650, default: 90 },
    pruneIntervalMs: 60 * 60 * 1000,
    /** Rows read, checked or removed in one slice of the event loop. */
    stepRows: 500,
    /** Rows of one search step. */
    scanRows: 10_000,
    /** Rows of one answer. */
    list: { min: 1, max: 1_000, default: 100 },
    /** Longest wait of a reader for a row. */
    waitSeconds: { min: 0, max: 30, default: 0 },
    /** Faults that one verification names. */
    faults: 20,
    /** Name of an action, or an id to search for. */
    idChars: 64,
    /** Interval between rows of one preview visitor; number of remembered visitors. */
    previewGrantMs: 10 * 60 * 1000,
    previewGrants: 4_096,
  },
} as const;
