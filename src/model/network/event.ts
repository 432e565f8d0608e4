/** Events of the networks of sandboxes with rules: what was decided, and how it ended. */

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
