/** Traffic of sandboxes beyond their host: what is counted, and what limits it. Units are bytes, and seconds. */
import { limits } from '../limits.ts';

/** Limits of each sandbox, the same for all of an installation. */
export interface SandboxTrafficLimits {
  /** Mbit/s each way; null for none. */
  bandwidthMbps: number | null;
  connectionsPerSecond: number;
  /** GB (10^9 bytes) of a UTC day, both ways together; null for none. */
  gbPerDay: number | null;
}

/** Limits of an installation beside its quotas. */
export interface TrafficOptions {
  each: SandboxTrafficLimits;
  /** Speed of the way out, in Mbit/s, that owners divide; `auto` for that of its link, null for one that is not divided. */
  uplinkMbps: number | 'auto' | null;
}

/** Bytes that passed, both ways apart, and connections that were refused for their rate. */
export interface TrafficCount {
  sentBytes: number;
  receivedBytes: number;
  refusedConnections: number;
}

export const noTraffic: TrafficCount = { sentBytes: 0, receivedBytes: 0, refusedConnections: 0 };

export const usualTraffic: TrafficOptions = {
  each: {
    bandwidthMbps: null,
    connectionsPerSecond: limits.network.newConnectionsPerSecond,
    gbPerDay: null,
  },
  uplinkMbps: 'auto',
};

const BITS_PER_BYTE = 8;
const MILLION = 1e6;
const BILLION = 1e9;
const DAY_MS = 86_400_000;

export function bytesPerSecond(mbps: number): number {
  return (mbps * MILLION) / BITS_PER_BYTE;
}

export function bytesOf(gb: number): number {
  return gb * BILLION;
}

export function addTraffic(a: TrafficCount, b: TrafficCount): TrafficCount {
  return {
    sentBytes: a.sentBytes + b.sentBytes,
    receivedBytes: a.receivedBytes + b.receivedBytes,
    refusedConnections: a.refusedConnections + b.refusedConnections,
  };
}

export function allBytes({ sentBytes, receivedBytes }: TrafficCount): number {
  return sentBytes + receivedBytes;
}

/** Returns the UTC day of a time, as 2026-01-31. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Returns the beginning of the next UTC day. */
export function nextDay(ms: number): number {
  return (Math.floor(ms / DAY_MS) + 1) * DAY_MS;
}

// Events of the networks of sandboxes with rules: what was decided, and how it ended.

/**
 * `tls`, `https` (a request inside TLS that was opened for a secret), `http`, `tcp` and `dns` come from the egress program, `tcp`,
 * `udp` and `icmp` from the firewall.
 */
export const networkEventKinds = ['tls', 'https', 'http', 'tcp', 'udp', 'icmp', 'dns'] as const;
export type NetworkEventKind = (typeof networkEventKinds)[number];

/** One decision, or the end of a connection that was allowed. */
export interface NetworkEvent {
  /** Milliseconds since the epoch. */
  at: number;
  sandbox: string;
  kind: NetworkEventKind;
  name: string | null;
  address: string | null;
  port: number | null;
  /** Text of the rule that allowed it; null also while all is allowed. */
  rule: string | null;
  /** Id of the secret that an `https` request got. */
  secret: string | null;
  allowed: boolean;
  why: string | null;
  /** Bytes of an allowed connection, by the time of the event. */
  sent: number;
  received: number;
  ended: boolean;
}

/** A number of events of a sandbox that came too fast to be reported one by one. */
export interface DroppedEvents {
  sandbox: string;
  dropped: number;
}

export type NetworkReport = NetworkEvent | DroppedEvents;

export function isDropped(report: NetworkReport): report is DroppedEvents {
  return 'dropped' in report;
}
