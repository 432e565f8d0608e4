/** Bounds of the listeners' outer side: certificates, proxies before them, and names. */
import { KiB } from './units.ts';

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
  region: { count: 64, textChars: 100 },
} as const;
