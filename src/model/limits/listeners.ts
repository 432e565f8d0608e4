/** Bounds of the listeners' outer side: certificates, proxies before them, and names. */
import { KiB } from './units.ts';

export const listenersLimits = {
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
