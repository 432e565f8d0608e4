/** Bounds of the audit log. */

export const auditLimits = {
  audit: {
    /** Events are written once there are so many, or after so long. */
    batchRows: 100,
    batchMs: 200,
    /** In one transaction, of those that waited for a busy disk; the event loop waits for it. */
    rowsAtOnce: 1_000,
    /** Events that wait while they cannot be written; past it they are counted, and dropped. */
    queuedRows: 10_000,
    /** From a failed write to the next try. */
    retryMs: 5_000,
    /** How far the checkpoint beside the database may be behind it. */
    checkpointMs: 1_000,
    /** How long rows are kept; 0 keeps them for good. */
    keptDays: { min: 0, max: 3_650, default: 90 },
    pruneIntervalMs: 60 * 60 * 1000,
    /** Rows that are read, checked or removed in one go, before others get their turn. */
    stepRows: 500,
    /** Rows that one step of a search looks at. */
    scanRows: 10_000,
    /** Rows of one answer. */
    list: { min: 1, max: 1_000, default: 100 },
    /** How long a reader may wait for a row to come. */
    waitSeconds: { min: 0, max: 30, default: 0 },
    /** Faults that one verification names. */
    faults: 20,
    /** Of the name of an action, and of an id to look for. */
    idChars: 64,
    /** A visitor of a preview is noted again after so long; so many are remembered. */
    previewGrantMs: 10 * 60 * 1000,
    previewGrants: 4_096,
  },
} as const;
