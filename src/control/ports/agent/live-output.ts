/** Output of a program while it runs, beside its result, which has all of it that is kept. */

export interface LivePiece {
  stream: 'stdout' | 'stderr';
  /** Whole characters. */
  text: string;
  /** Bytes of the stream that are missing before the text. */
  leftOutBytes: number;
}

/** Receives live output in the order of the writes. Must neither wait nor throw: nothing slows a program down. */
export type LiveOutput = (piece: LivePiece) => void;

/** A wish for live output, which an agent of an earlier version cannot fulfil. */
export interface LiveRequest {
  output: LiveOutput;
  /** Generation of the sandbox's run, which tells its agent from those before. */
  generation: number;
}
