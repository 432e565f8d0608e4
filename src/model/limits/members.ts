/** What members share, of the service: for all of them together, and for one. Waiting is in milliseconds. */
import { KiB, MiB } from './units.ts';

export const membersLimits = {
  shares: {
    /** Requests in progress. */
    requests: { total: 1_024, perOwner: 256 },
    /** Bytes of JSON bodies that arrive or are being worked on; those of at most `smallBodyBytes` are free. */
    bodies: { total: 144 * MiB, perOwner: 48 * MiB, waiting: 64, waitMs: 30_000 },
    /** Large bodies that are parsed, and long queries that are read: of each kind one, and then as long a pause. */
    longWork: { total: 1, perOwner: 1, waiting: 64, waitMs: 30_000 },
    /** Bytes of results that are collected or not yet sent; those of at most `smallAnswerBytes` are free. */
    answers: { total: 160 * MiB, perOwner: 56 * MiB, waiting: 128, waitMs: 30_000 },
    /** Tunnels over the API. */
    tunnels: { total: 1_024, perOwner: 256 },
    /** MCP clients that wait for news of the service. */
    subscriptions: { total: 256, perOwner: 32 },
    /** Images being pulled. */
    pulls: { total: 4, perOwner: 2, waiting: 256, waitMs: 30 * 60_000 },
    /** Snapshots being made. */
    snapshots: { total: 4, perOwner: 2 },
    /** Queries of the document database; each has a connection. */
    queries: { total: 20, perOwner: 6, waiting: 128, waitMs: 10_000 },
    /** Connections to the API with a key. */
    connections: { total: 3_072, perOwner: 512 },
  },

  /** Connections to the API that have not shown a key. The oldest of the address with most of them is cut for a newer. */
  strangers: 768,
  /** How long a refusal waits that an owner's own share is the reason of: who only tries again is slowed down. */
  refusalDelayMs: 1_000,
  /** Refusals that wait, of one owner; of more, the connection ends after the same time without one. */
  refusalsWaiting: 256,

  json: {
    /** Of one body: values, values and keys together, and lists in objects in lists. */
    body: { nodes: 10_000, nodesAndKeys: 10_000, depth: 64 },
    /** Of MCP's messages besides the arguments of their tools: keys and values, and bytes. */
    envelopeNodes: 1_000,
    envelopeBytes: 64 * KiB,
    smallBodyBytes: 64 * KiB,
    /** From so many bytes, one body at a time is parsed. */
    largeBodyBytes: MiB,
    /** Of one parameter that is an object or a list; what a tool allows is less. */
    parameterEntries: 4_096,
  },

  /** A body must keep up with so many bytes a second, after so long. */
  bodyBytesPerSecond: 4 * KiB,
  bodyGraceMs: 5_000,

  /**
   * A service is quiet whose memory has changed by less between two looks and that has worked for less. One that holds so
   * much more than it once did gives it back then, if it has worked for so long since the last time.
   */
  idleMemory: {
    ...{ lookMs: 10_000, quietBytes: 8 * MiB, quietWorkMs: 1_500 },
    ...{ excessBytes: 48 * MiB, workMs: 1_000 },
  },

  smallAnswerBytes: 64 * KiB,
  /** An answer of about as many bytes is made into text piece by piece, as its reader takes it. */
  largeAnswerBytes: 256 * KiB,
  answerPieceChars: 64 * KiB,
  /** How long a reader may take nothing of what waits for it. */
  stalledReaderMs: 20_000,
  stalledReaderCheckMs: 2_000,
} as const;
