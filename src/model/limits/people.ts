/** Bounds of people and their shares. */
import { KiB, MiB } from './units.ts';

export const peopleLimits = {
  userNameChars: 100,
  /** Length of an address in the mail standards. */
  userEmailChars: 254,
  keyNameChars: 100,
  /** Keys of one user, neither revoked nor expired. */
  keysPerUser: 100,
  /** Keys of one user, revoked or expired: kept for the record. */
  keysKeptPerUser: 1_000,
  /** Keys whose rate is kept before idle ones are forgotten. */
  rateBuckets: 10_000,
  /** Times that our own clients send a call refused for its rate. */
  clientTries: 4,
  /** Value of a quota: sums stay exact far beyond it. */
  quotaMax: 1_000_000_000,
  /** New connections a second of a member's sandboxes together: five of them at their most. */
  ownerConnectionsPerSecond: 1_000,
  /** Interval of writing the last use of keys. */
  keyUseWrittenMs: 60_000,
  teams: {
    nameChars: 63,
    /** Teams of the service, members of one team, and teams of one user. */
    most: 1_000,
    members: 200,
    perUser: 50,
    /** Sandboxes of a team whose access ends when a member leaves: more than an installation holds. */
    sandboxes: 100_000,
    accessEndedAtOnce: 8,
  },
  userDeletion: {
    /** Sandboxes, and snapshots, that are looked for at once, and sandboxes that are deleted side by side. */
    page: 100,
    atOnce: 4,
    /** Looks of one try: with those pages more than a user can own. */
    rounds: 1_000,
  },
  signIn: {
    /** Sign-ins of one user; a newer one replaces the one that was used longest ago. */
    perUser: 32,
    /** Time without use after which one ends, and its end in any case. */
    idleMs: 24 * 60 * 60_000,
    wholeMs: 30 * 24 * 60 * 60_000,
    /** Age of a token that is replaced, and the pause before another one is given in place of one that was not used. */
    rotateMs: 15 * 60_000,
    offerAgainMs: 60_000,
    /** Time for which the old token is valid after the first use of the new one: requests side by side. */
    overlapMs: 60_000,
    /** Validity of a one-time link, and links of one user at once. */
    linkMs: 15 * 60_000,
    linksPerUser: 8,
    /** Attempts of one address. */
    rate: { perSecond: 0.2, burst: 10 },
    /** A key or ticket, and the body that has it. */
    secretChars: 512,
    bodyBytes: 2_048,
    /** Addresses whose attempts are counted before idle ones are forgotten. */
    addresses: 10_000,
  },
  deviceSignIn: {
    /** Validity of a code, and the pause between two questions for its answer. */
    codeMs: 10 * 60_000,
    pauseMs: 3_000,
    /** Codes that wait for their users: of one network, and of all. */
    perNetwork: 16,
    atOnce: 10_000,
    machineChars: 64,
    /** Questions of one address. */
    questions: { perSecond: 2, burst: 20 },
    /** Longest life of a key that a machine gets, and the usual one: 90 days. */
    keyMinutes: 129_600,
  },
  /** Ten years. */
  keyMinutesMax: 5_256_000,
} as const;

/** Shares of the service: for all owners together, and for one. Waiting is in milliseconds. */
export const membersLimits = {
  shares: {
    /** Requests in progress. */
    requests: { total: 1_024, perOwner: 256 },
    /** Bytes of JSON bodies that arrive or are in work; those of at most `smallBodyBytes` are free. */
    bodies: { total: 144 * MiB, perOwner: 48 * MiB, waiting: 64, waitMs: 30_000 },
    /** Parsing of large bodies, and of long queries: one of each kind at a time, then a pause of equal length. */
    longWork: { total: 1, perOwner: 1, waiting: 64, waitMs: 30_000 },
    /** Bytes of results that are collected or not yet sent; those of at most `smallAnswerBytes` are free. */
    answers: { total: 160 * MiB, perOwner: 56 * MiB, waiting: 128, waitMs: 30_000 },
    /** Tunnels over the API. */
    tunnels: { total: 1_024, perOwner: 256 },
    /** MCP clients subscribed to changes of the service. */
    subscriptions: { total: 256, perOwner: 32 },
    /** Images being pulled. */
    pulls: { total: 4, perOwner: 2, waiting: 256, waitMs: 30 * 60_000 },
    /** Snapshots being made. */
    snapshots: { total: 4, perOwner: 2 },
    /** Archives being written, with their way to their place. */
    archives: { total: 4, perOwner: 2, waiting: 64, waitMs: 30 * 60_000 },
    /** Disks being restored: somebody waits for each. */
    restores: { total: 8, perOwner: 4, waiting: 64, waitMs: 30 * 60_000 },
    /** Disks being captured: a running sandbox stands still meanwhile. */
    captures: { total: 8, perOwner: 4, waiting: 64, waitMs: 10 * 60_000 },
    /** Builds from Dockerfiles. */
    builds: { total: 8, perOwner: 2 },
    /** Queries of the document database; each has a connection. */
    queries: { total: 20, perOwner: 6, waiting: 128, waitMs: 10_000 },
    /** Connections to the API with a key. */
    connections: { total: 3_072, perOwner: 512 },
  },

  /** Connections to the API without a key so far. A newer one replaces the oldest of the address with most. */
  strangers: 768,
  /** Delay of an error because of the owner's own share, at least; twice this at most. Slows down a caller that only retries. */
  refusalDelayMs: 1_000,
  /** Delayed errors of one owner; above it, the connection ends after the same time without an answer. */
  refusalsWaiting: 256,

  json: {
    /** One body: values, values and keys together, and nesting. */
    body: { nodes: 10_000, nodesAndKeys: 10_000, depth: 64 },
    /** MCP messages without their tools' arguments: keys and values, and bytes. */
    envelopeNodes: 1_000,
    envelopeBytes: 64 * KiB,
    smallBodyBytes: 64 * KiB,
    /** Size from which bodies are parsed one at a time. */
    largeBodyBytes: MiB,
    /** Entries of one parameter that is an object or a list; tools allow less. */
    parameterEntries: 4_096,
  },

  /** Minimum rate of a body, after the grace period. */
  bodyBytesPerSecond: 4 * KiB,
  bodyGraceMs: 5_000,

  /**
   * A service is quiet when its memory has changed by less between two checks and it has worked for less. A quiet
   * service with this much more memory than after the last collection, or than it once got by with, collects again, if it
   * has worked for this long since then (`heldWorkMs` in the second case, twice as long after each in vain). Of the next
   * half minute, jemalloc takes five seconds for the pages of buffers.
   */
  idleMemory: {
    ...{ lookMs: 3_000, quietBytes: 8 * MiB, quietWorkMs: 100 },
    ...{ excessBytes: 16 * MiB, workMs: 500, heldWorkMs: 100 },
  },

  smallAnswerBytes: 64 * KiB,
  /** Approximate size from which an answer is serialized piece by piece, as its reader takes it. */
  largeAnswerBytes: 256 * KiB,
  answerPieceChars: 64 * KiB,
  /** Time without progress after which a reader counts as stalled. */
  stalledReaderMs: 20_000,
  stalledReaderCheckMs: 2_000,
} as const;
