/** Output of a program while it runs, beside its result, which has all of it that is kept. */

import type { OutputPiece } from '../../../model/output/output-text.ts';

export type LivePiece = OutputPiece;

/** Receives live output in the order of the writes. */
export interface LiveOutput {
  /** true: every byte is wanted, and the program waits for its reader; false: nothing slows the program down. */
  readonly whole: boolean;
  /**
   * Takes a piece, and must not throw. Returns a promise, which never rejects, when no more is wanted before it
   * resolves; what is on its way comes still. Of one that is not `whole` the promise is ignored.
   */
  show(piece: LivePiece): Promise<void> | undefined;
}

/** A wish for live output, which an agent of an earlier version cannot fulfil, or not wholly. */
export interface LiveRequest {
  output: LiveOutput;
  /** Generation of the sandbox's run, which tells its agent from those before. */
  generation: number;
}
