/** Bounds of what others' bytes may cost the event loop, and of what JSON of theirs is parsed. */
import { KiB } from './units.ts';

export const loopLimits = {
  loop: {
    /**
     * Of one turn of the event loop, for the bytes of all sandboxes and of all remotes together. A call of somebody else's takes
     * a few turns.
     */
    turnMs: 1,
    /** Bytes of one source that are taken apart in one piece: at first, and between which it then settles. */
    sliceBytes: { first: 4 * KiB, min: KiB / 2, max: 64 * KiB },
    /** A slice that took longer is followed by smaller ones, one that took less than a quarter by larger ones. */
    sliceMs: 0.5,
    /** Pieces of bytes that are shorter are put together before they go on. */
    pieceBytes: 4 * KiB,
    /** What they are put together in, and how many of one body are taken in a turn of the loop. */
    pageBytes: 16 * KiB,
    piecesPerTurn: 1_024,
  },

  /** Of one frame's JSON: values, and arrays in objects in arrays. */
  agentJson: { nodes: 65_536, depth: 16 },
  /** Of an agent's error. */
  agentErrorBytes: 64 * KiB,
  /** Of what is told of an agent's breach of the protocol. */
  agentBreachChars: 300,
} as const;
