/**
 * Network policy of a sandbox in its compiled form, which the engine puts in force. JSON of the same shape goes to the
 * egress program.
 */
export type NetworkPolicy = { mode: 'open' } | { mode: 'none' } | { mode: 'rules'; rules: NetworkRule[] };

/**
 * Policy of a machine whose network is watched to find the rules that it needs: all that is public when `open`, otherwise what
 * the rules allow. The engine reports all that is used.
 */
export interface LearningPolicy {
  mode: 'learn';
  open: boolean;
  /** Empty while it is open. */
  rules: NetworkRule[];
  /** Time by which it ends; milliseconds since the epoch. */
  until: number;
}

export const networkProtocols = ['https', 'http', 'tcp', 'udp', 'icmp'] as const;
export type NetworkProtocol = (typeof networkProtocols)[number];

export interface NetworkRule {
  /** The rule's text in canonical form, shown to people and in logs. */
  text: string;
  protocol: NetworkProtocol;
  /** Exact name, or suffix with a leading `*.`; null: any name. Exactly one of host and address is non-null. */
  host: string | null;
  /** `a.b.c.d/len`, canonical (host bits zero); null: any address that the resolver gave for the host. */
  address: string | null;
  /** First and last port; null for icmp. */
  ports: [number, number] | null;
  /** http only; empty: all. */
  methods: string[];
  /** http only; a path matches when it equals the prefix, or begins with it at a segment boundary. Null: all. */
  path: string | null;
}
