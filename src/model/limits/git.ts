/** Bounds of the Git tools and of their gateway. */
import { KiB, MiB } from './units.ts';

export const gitLimits = {
  git: {
    /** A call that works inside alone, and one that talks to a remote. */
    localMs: 60_000,
    networkMs: 600_000,
    /** Of what one git command prints; the agent takes no more than 8 MiB. */
    outputBytes: 4 * MiB,
    /** Of its complaints, when they are passed on. */
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
    /** Paths, in bytes, that travel as arguments; more go by a file. */
    argumentBytes: 64 * KiB,
    messageBytes: MiB,
    identityChars: 256,
    /** More is for git to answer: the bytes of its output bound the list. */
    log: { min: 1, max: 2_147_483_647, default: 20 },
    usernameChars: 256,
    passwordChars: 8_192,
    /** Kept for one sandbox. */
    credentials: 64,
    /** Connections that the gateway takes from one git at a time. */
    gatewayConnections: 16,
    /** Remotes that are talked to with credentials at a time: in all, and by one owner. */
    proxies: 256,
    proxiesPerOwner: 64,
    /** Until the remote has taken the connection; then how long it may be silent. */
    connectMs: 15_000,
    idleMs: 120_000,
    redirects: 3,
    /** Entries of --git-allow. */
    allowedRemotes: 256,
  },
} as const;
