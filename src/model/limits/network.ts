/** Bounds of the network of sandboxes and of its DNS forwarder. */

export const networkLimits = {
  network: {
    /** Machine-wide: host user ids stay below 2^31, addresses inside 10.213.0.0/16. */
    slots: 16_384,
    /** Slots made at once, when the pool is filled. */
    slotBatch: 16,
    /** Per sandbox: connections to the outside open at a time, new ones a second, and how many at once. */
    connections: 512,
    newConnectionsPerSecond: 200,
    newConnectionBurst: 400,
    /** DNS: queries of one sandbox a second and at once, by UDP and TCP together; then those waiting for an answer. */
    dnsQueriesPerSecond: 200,
    dnsQueryBurst: 400,
    dnsQueriesInFlightPerSandbox: 64,
    dnsQueriesInFlight: 1_024,
    dnsConnectionsPerSandbox: 8,
    dnsConnections: 256,
    dnsIdleMs: 10_000,
    /** What a resolver may send besides the answer to one question, before the next resolver is asked. */
    dnsWrongAnswers: 64,
    /** Until the next upstream is asked, and for one query altogether. */
    dnsUpstreamTimeoutMs: 2_000,
    dnsTimeoutMs: 5_000,
    dnsQueryBytes: 1_024,
    dnsUdpBytes: 1_232,
  },
} as const;
