/** Bounds of the event loop's time for foreign bytes, and of foreign JSON. */
import { KiB } from './units.ts';

export const loopLimits = {
  loop: {
    /**
     * Time in one turn of the event loop, for the bytes of all sandboxes and of all remotes together. A call of another
     * user takes a few turns.
     */
    turnMs: 1,
    /** Slice of one source's bytes: its first size, and the range of later ones. */
    sliceBytes: { first: 4 * KiB, min: KiB / 2, max: 64 * KiB },
    /** A slower slice is followed by smaller ones, one under a quarter of this time by larger ones. */
    sliceMs: 0.5,
    /** Shorter pieces of bytes are joined before they are passed on. */
    pieceBytes: 4 * KiB,
    /** Size of a page of joined pieces, and pieces of one body in a turn of the loop. */
    pageBytes: 16 * KiB,
    piecesPerTurn: 1_024,
  },

  /** JSON of one frame: values, and nesting. */
  agentJson: { nodes: 65_536, depth: 16 },
  /** Text of an agent's error. */
  agentErrorBytes: 64 * KiB,
  /** Text about an agent's breach of the protocol. */
  agentBreachChars: 300,
} as const;
