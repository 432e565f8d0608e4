/** Bounds of the store, of archives, backups and audit rows. */
import { GiB, HOUR_MS, MiB } from './units.ts';

/** Bounds of archives that lie outside this host. */

export const archivesLimits = {
  archives: {
    /** Uploads of the service at once; each holds `partsAtOnce` parts in memory, and one more. */
    uploadsAtOnce: 2,
    /** Downloads at once. They hold little, and somebody waits for their sandbox. */
    downloadsAtOnce: 8,
    /** One upload or download as a whole. Below `orphanAgeMs`, so that no upload in progress counts as an orphan. */
    transferMs: 6 * HOUR_MS,
    /** Parts of one size, the last one aside, as some servers demand. S3 takes 10,000 of at least 5 MiB. */
    partBytes: 24 * MiB,
    parts: 10_000,
    /** Parts of one upload that are being sent; one more is being filled. */
    partsAtOnce: 2,
    /** Silence of the server, in either direction. */
    idleMs: 60_000,
    /** One request with its whole answer; a download has `transferMs`. */
    requestMs: 5 * 60_000,
    /** Attempts of one request, and the pauses between them, which double. */
    attempts: 5,
    retryDelayMs: 250,
    retryDelayMaxMs: 8_000,
    /** Removal of one archive, and the proof of a bucket: a caller waits. */
    removalMs: 10_000,
    proofMs: 30_000,
    /** An answer that is no archive. A page of a listing has 1,000 entries. */
    answerBytes: 4 * MiB,
    keyBytes: 1_024,
    /** Age at which an object that no row names is removed, and the interval of collections. */
    orphanAgeMs: 24 * HOUR_MS,
    collectIntervalMs: 6 * HOUR_MS,
    /** Pause after a collection that failed. */
    collectRetryMs: 10 * 60_000,
    /** Interval of looking whether a collection is due, and this replica's. */
    collectLookMs: 30_000,
    /** Rows read from the store at once. */
    rowsAtOnce: 500,
  },
} as const;

/** Bounds of backups and of what a restore takes from one. */
export const backupsLimits = {
  backups: {
    /** Longest pause of a running sandbox for the copy of its disk. */
    frozenMs: 30_000,
    /** Attempts at a sandbox whose row changes while its files are copied. */
    attempts: 3,
    /** Free space of the host's disk that a backup or a restore leaves. */
    keptFreeBytes: 4 * GiB,
    manifestBytes: 64 * MiB,
    /** Sandboxes and the few files beside them. */
    files: 200_000,
    /** Database without its compression. */
    rowsBytes: 64 * GiB,
    keyFileBytes: 4_096,
    /** Longest wait for a client that takes nothing. */
    idleMs: 120_000,
    pieceBytes: 256 * 1024,
  },
} as const;

/** Bounds of the connections to PostgreSQL. */
export const postgresLimits = {
  postgres: {
    /** Statements of one service that run at once; further ones wait. */
    connections: 10,
    /** Of one user; and of the service, for statements that no user is known of. */
    connectionsPerShare: 4,
    /** Works of one share that wait for a connection, or for their lock; and the longest wait for a connection. */
    waiting: 1_024,
    waitMs: 15_000,
    /** Longest wait until a new connection is open. */
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 15_000,
    lockTimeoutMs: 10_000,
    /** Of work that PostgreSQL rolled back for another's sake. */
    attempts: 5,
    /** Longest wait for the outcome of a commit whose connection was lost, and the pause between two questions. */
    outcomeWaitMs: 5_000,
    outcomePauseMs: 50,
    /** Time between two checks of the connection that holds the database's lock. */
    heartbeatMs: 5_000,
    /** Pause before a lost connection is opened again. */
    reconnectMs: 500,
    /** Rows of one statement of `sandhaven store copy`. */
    copiedRows: 100,
    /** Rows in memory, which calls on the hot path need. */
    cache: { sandboxBytes: 32 * MiB, callerBytes: 4 * MiB },
  },
} as const;

/** Bounds of the replicas of one installation. */
export const replicasLimits = {
  replicas: {
    /** By the database's clock: a replica that has not renewed its lease for so long is given up. */
    leaseMs: 25_000,
    /** By its own clock: a replica without a renewal for so long stops work. The rest of the lease is for requests under way. */
    workMs: 9_000,
    renewMs: 2_000,
    /** Wait for another replica's operation until the row is read again; news of a write end it early. */
    lookAgainMs: 1_000,
    /** Time between two looks for operations of replicas that were given up. */
    takeOverMs: 2_000,
    /** Time between two comparisons of the store with the machines. */
    compareMs: 20_000,
    /** The longest time until the others know of activity at one replica: it is stored every 5 s. */
    activityKnownMs: 20_000,
    /** Turns of the scheduler, 5 s each, for which a deadline has passed before it is acted on. */
    looksUntilDue: 4,
    /** Rows that are read at once, by those who look at all of them. */
    pageRows: 500,
    /** Sandboxes whose machines are compared, or mended, at once. */
    comparedAtOnce: 32,
    /** Operations of given-up replicas that one replica finishes at once. */
    takenOverAtOnce: 16,
    /** Those of them that are archives: each may take hours, and others wait for the rest. */
    archivesTakenOverAtOnce: 4,
    /** Ids of given-up replicas in memory; each start of a process is one more. */
    givenUpKept: 1_000,
    /** Updates of a row that another replica has changed in between, before the caller gets an error. */
    overtaken: 10,
    /** Wait for news of a call at another replica, before a call out of order is refused. */
    hearsayMs: 250,
    /** Time between the first answer that a replica is not ready, and the end of its listeners. */
    drainMs: 3_000,
    /** Messages about what callers have seen on their way to the database; further ones are dropped. */
    seenUnderWay: 4,
    /** Time between two readings of the rights of open connections: a message of an end may be lost with its sender. */
    recheckMs: 60_000,
    recheckedAtOnce: 2,
    /** Open connections whose right could not be read for so long end. */
    uncheckedMs: 5 * 60_000,
    /** Bytes of a message between replicas; PostgreSQL takes 8,000. */
    messageBytes: 7_500,
    /** Longest wait for the other replicas to hear of an end of rights. */
    heardMs: 1_000,
  },
} as const;

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
