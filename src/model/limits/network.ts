/** Bounds of networks of sandboxes, and of what the service itself fetches and sends. */
import { HOUR_MS, KiB } from './units.ts';

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

/** Bounds of agents that listen on a network: their certificates, and connections to them. */
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

/** Bounds of the connections that the service opens by names: of members, of strangers, and of its operator. */
export const outboundLimits = {
  outbound: {
    /** Entries of --git-allow, and of --webhook-allow. */
    allowedHosts: 256,
    /** Names of others that are being looked up; an owner is a user, a team, or a stranger's network. */
    lookups: { total: 128, perOwner: 4, waiting: 64, waitMs: 10_000 },
    /** One lookup of such a name; one question of it to one name server, and rounds through all of these. */
    lookupMs: 5_000,
    questionMs: 2_000,
    rounds: 2,
    /** Wait for the system's lookup of a name that the operator gave: it asks a second name server after 5 s. */
    operatorLookupMs: 12_000,
  },
} as const;

/** Bounds of webhooks: their number, their queues, and the requests that deliver events. */
export const webhooksLimits = {
  webhooks: {
    /** Webhooks of one owner, those for everybody counting as one owner's; and of the installation. */
    perOwner: 10,
    total: 100,
    urlChars: 2_048,
    /** Undelivered events of one webhook; beyond it the oldest are dropped, and counted. */
    queued: 1_000,
    /** Events of one webhook that are over, kept for the record; and those that a list shows. */
    kept: 100,
    shown: 100,
    /** Text of a reason in an event. */
    reasonChars: 300,
    /** Ports of receivers that no operator has named. */
    ports: [443, 8_443] as readonly number[],

    /** Deliveries in flight in one process. */
    atOnce: { total: 32, perOwner: 4 },
    /** From the lookup of the name to the status. */
    attemptMs: 10_000,
    /** Part of an answer's body that is read, and thrown away. */
    answerBytes: KiB,
    answerHeaderBytes: 8 * KiB,
    /** Time after which a delivery that a process took and never settled is due again; longer than an attempt. */
    claimMs: 30_000,
    /** Interval of looking for events. */
    turnMs: 1_000,
    retry: { firstMs: 5_000, factor: 4, mostMs: 6 * HOUR_MS, jitter: 0.2 },
    /** Time of failures after which an event, and its webhook, are given up. */
    giveUpMs: 72 * HOUR_MS,
    /** Time for which a replaced secret signs beside the new one. */
    overlapMs: 24 * HOUR_MS,
    /** Pause between two events about one quota of one owner. */
    refusalMs: 60_000,
  },
} as const;
