/** Bounds of the network of sandboxes, of its DNS forwarder, and of network policies. */

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
    /** Network policies: rules of one, and names of profiles in it; characters of a rule, and of a host's name. */
    rules: 100,
    profiles: 20,
    ruleChars: 300,
    hostChars: 253,
    /** Rules in force for one sandbox: those of its profiles included, and what a ceiling leaves of them. */
    rulesInForce: 1_000,
    /**
     * Notes of refused packets: of all, for how long, how often they are read; of one sandbox a second, and their burst. A kind of
     * packet is noted once while its note is there.
     */
    packetNotes: 4_096,
    packetNoteSeconds: 10,
    packetReadMs: 2_000,
    packetNotesPerSecond: 5,
    packetNoteBurst: 20,
    /** Latest events that are kept in memory: of one sandbox, and of all; logs of sandboxes, also of gone ones. */
    eventsPerSandbox: 1_000,
    events: 20_000,
    eventLogs: 4_000,
    /** Time without events after which a log makes room for others. */
    eventLogSilentMs: 24 * 60 * 60 * 1_000,
    /** Running sandboxes that one change of a ceiling, or of a secret, reaches at once. */
    reachedAtOnce: 8,
    /** Time for which such a change waits for them; it goes on behind the answer. */
    reachMs: 20_000,
    /** Learning of rules: its minutes, rules kept of one sandbox, and sandboxes that learn or have learned. */
    learnMinutes: { min: 1, max: 60, default: 10 },
    learnedRules: 500,
    learners: { total: 500, perOwner: 20 },
    /** Learned rules are kept so long after the end. */
    learnedKeptMs: 60 * 60 * 1_000,
    /** The last events of the egress program arrive within it. */
    learnSettleMs: 250,
    /** Events of one answer, or of one piece of the event stream. */
    eventsShown: { default: 100, max: 1_000 },
    eventsSent: 100,
  },
  /** Counting and limiting traffic. */
  traffic: {
    lookMs: 2_000,
    /** Counts are stored this often: a kill loses no more of them. */
    storeMs: 10_000,
    /** An owner's quota is read again after these, with traffic and without. */
    quotaMs: 5_000,
    idleQuotaMs: 60_000,
    quotasAtOnce: 8,
    /** Sandboxes that do not run, and whose counts of the day are kept. */
    stoppedKept: 5_000,
    /** Rates of the kernel, in bytes a second, and the burst, which holds its largest packet. */
    rateBytes: { least: 1_000, most: 10_000_000_000, burst: 262_144 },
    /** Part of a link's speed that is divided, and part of a share from which its owner could use more. */
    divided: 0.95,
    hungry: 0.8,
    /** Change of a share that is worth a change in the kernel. */
    noticeable: 0.2,
  },
} as const;
