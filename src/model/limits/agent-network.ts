/** Bounds of agents that listen on a network: their certificates, and connections to them. */
import { KiB } from './units.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

export const agentNetworkLimits = {
  agentTls: {
    /** Certificates are valid from this long before they are made: clocks of nodes differ. */
    clockSkewMs: HOUR_MS,
    /** Validity of an installation's authority: its private key stays with the service. */
    authorityMs: 20 * 365 * DAY_MS,
    /** Of the service's own certificate, which a service makes at its start. */
    serviceMs: 365 * DAY_MS,
    /**
     * Of a sandbox's, which is made at each start and cannot be replaced meanwhile: the longest run. It opens nothing,
     * and after the next start nobody connects to its generation any more.
     */
    sandboxMs: 366 * DAY_MS,
    /** Timeout of a handshake, from the start of the connection. */
    handshakeMs: 5_000,
    /** Silence after which the kernel probes whether the other side lives. */
    keepaliveMs: 30_000,
    /** Agents whose last session is kept, for a shorter handshake of the next connection. */
    sessions: 4_096,
    /** Session of TLS as the other side made it; larger ones are not kept. */
    sessionBytes: 8 * KiB,
  },
} as const;
