/** Bounds of output that is shown while a program runs. Its result has bounds of its own. */
import { KiB, MiB } from './units.ts';

export const liveLimits = {
  live: {
    /** Of one call whose program does not wait for it, each piece counted as `pieceCostBytes` more; part of the protocol. */
    callBytes: 16 * MiB,
    pieceCostBytes: 64,
    /** One piece, and the JSON in front of it. */
    pieceBytes: 16 * KiB,
    headBytes: 96,
    /** Bytes held for a client that reads slowly; what comes meanwhile is left out, or the program waits. */
    heldBytes: 64 * KiB,
    /** Time without progress after which a reader of a call in progress is cut; longer than any command may run. */
    stalledMs: 660_000,
    /** Agents whose version of the protocol is remembered. */
    knownAgents: 4_096,
    /** Longest wait for a session command that prints without a pause, and the pause before its log is there. */
    followMs: 500,
    followRetryMs: 50,
    /** MCP: the last lines in a notification, and the time between two. */
    mcpLines: 10,
    mcpChars: 2_000,
    mcpIntervalMs: 1_000,
  },
} as const;
