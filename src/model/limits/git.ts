/** Bounds of the Git tools and of their gateway. */
import { KiB, MiB } from './units.ts';

export const gitLimits = {
  git: {
    /** Timeout of a call that works inside alone, and of one that contacts a remote. */
    localMs: 60_000,
    networkMs: 600_000,
    /** Output of one git command; the agent takes no more than 8 MiB. */
    outputBytes: 4 * MiB,
    /** git's message for people, in an error. */
    complaintChars: 600,
    urlChars: 2_048,
    refBytes: 244,
    /** Paths in one list of a result. */
    paths: 20_000,
    /** Files that an error names. */
    namedFiles: 20,
    branches: 5_000,
    /** Paths of one GitAdd. */
    files: 1_000,
    /** Bytes of paths as arguments; more go by a file. */
    argumentBytes: 64 * KiB,
    messageBytes: MiB,
    identityChars: 256,
    /** Leaves larger bounds to git: the bytes of its output bound the list. */
    log: { min: 1, max: 2_147_483_647, default: 20 },
    usernameChars: 256,
    passwordChars: 8_192,
    /** Credentials of one sandbox. */
    credentials: 64,
    /** Connections that the gateway accepts from one git at a time. */
    gatewayConnections: 16,
    /** Remotes that are talked to with credentials at a time: in all, and by one owner. */
    proxies: 256,
    proxiesPerOwner: 64,
    /** Until the remote has taken the connection; then how long it may be silent. */
    connectMs: 15_000,
    idleMs: 120_000,
    redirects: 3,
  },
} as const;
