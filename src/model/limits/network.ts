/** Bounds of the network of sandboxes and of its DNS forwarder. */

export const networkLimits = {
  network: {
    /** Machine-wide: host user ids stay below 2^31, addresses inside 10.213.0.0/16. */
    slots: 16_384,
    /** Slots created at once to fill the pool. */
    slotBatch: 16,
    /** Per sandbox: open connections to the outside, new ones a second, and their burst. */
    connections: 512,
    newConnectionsPerSecond: 200,
    newConnectionBurst: 400,
    /**
     * DNS: queries of one sandbox a second and their burst, by UDP and TCP together; then those waiting for an answer.
     */
    dnsQueriesPerSecond: 200,
    dnsQueryBurst: 400,
    dnsQueriesInFlightPerSandbox: 64,
    dnsQueriesInFlight: 1_024,
    dnsConnectionsPerSandbox: 8,
    dnsConnections: 256,
    dnsIdleMs: 10_000,
    /** Wrong packets of a resolver for one question before the next resolver is asked. */
    dnsWrongAnswers: 64,
    /** Timeout of one upstream, and of one query in total. */
    dnsUpstreamTimeoutMs: 2_000,
    dnsTimeoutMs: 5_000,
    dnsQueryBytes: 1_024,
    dnsUdpBytes: 1_232,
  },
} as const;
