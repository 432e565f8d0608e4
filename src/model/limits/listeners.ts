/** Bounds of the listeners' outer side: certificates, proxies before them, and names. */
import { KiB, MiB } from './units.ts';

export const listenersLimits = {
  /**
   * New connections that the kernel keeps for a listener; Linux allows 4,096 by default. A storm of strangers fills
   * 511, Node's default, and whoever connects then waits for the kernel's retries, which take seconds.
   */
  listenBacklog: 4_096,
  tls: {
    /** Certificate file with its whole chain, or key file. */
    fileBytes: 256 * KiB,
    /** Interval of checking both; new ones are read once two checks agree. */
    watchMs: 2_000,
    /** Timeout of a connection's first byte, and of its handshake. */
    firstByteMs: 5_000,
    handshakeMs: 5_000,
    /** Days before the expiry from which `doctor` warns. */
    expiresSoonDays: 14,
  },
  proxies: {
    /** Networks that `--trusted-proxy` names. */
    networks: 64,
    /** Proxies in a row that a request is followed back through. */
    chain: 16,
  },
  events: {
    /** Open event streams: of one user, and of all. */
    streams: { perOwner: 16, total: 512 },
    /** Time in which changes of one sandbox become one event. */
    gatherMs: 100,
    /** Sandboxes of an owner that a stream knows; the deletion of one beyond shows at the next list. */
    known: 10_000,
    /** Rows of the audit log in one event; beyond, its followers list again. The pause before the next event. */
    auditRows: 50,
    auditPauseMs: 500,
    /** Pause between two messages about how far one snapshot is. */
    progressPauseMs: 1_000,
    /** Characters of events that wait for a slow client; beyond, it gets `refresh` in their place. */
    waitingChars: 64 * KiB,
  },
  page: {
    files: 1_000,
    bytes: 32 * MiB,
    /** Of 11: a third larger than the best, in a hundredth of the time. */
    brotliQuality: 6,
    /** Shorter answers fit in the packets that carry their headers. */
    compressedFromChars: 2_048,
  },
  /** Packages that the service gives to its users, all in memory. */
  packages: { files: 64, bytes: 32 * MiB },
  region: { count: 64, textChars: 100 },
} as const;
