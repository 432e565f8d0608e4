/** Shares of the service: for all owners together, and for one. Waiting is in milliseconds. */
import { KiB, MiB } from './units.ts';

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
    ...{ lookMs: 3_000, quietBytes: 8 * MiB, quietWorkMs: 450 },
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
