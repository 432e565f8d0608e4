/** Bounds of backups and of what a restore takes from one. */
import { GiB, MiB } from '../units.ts';

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
