/** Bounds of archives that lie outside this host. */
import { KiB, MiB } from '../units.ts';

const HOUR_MS = 60 * 60_000;

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
    credentialsFileBytes: 64 * KiB,
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
