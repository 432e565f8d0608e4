/** Bounds of the listeners' outer side: certificates, proxies before them, and what they are named. */
import { KiB } from './units.ts';

export const listenersLimits = {
  tls: {
    /** Of a certificate's file with its whole chain, and of a key's. */
    fileBytes: 256 * KiB,
    /** How often both are looked at; new ones are read once they have been the same twice. */
    watchMs: 2_000,
    /** Until a connection has said its first byte, then until its handshake is over. */
    firstByteMs: 5_000,
    handshakeMs: 5_000,
    /** From then on `doctor` warns of the end. */
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
