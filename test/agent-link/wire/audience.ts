/** One who is shown live output, and keeps it. */
import type { LiveOutput, LivePiece } from '../../../src/control/ports/index.ts';

/** @param room What each piece waits for; by default nothing. */
export function audience(whole: boolean, room?: () => Promise<void> | undefined) {
  const pieces: LivePiece[] = [];
  const output: LiveOutput = {
    whole,
    show(piece) {
      pieces.push(piece);
      return room?.();
    },
  };
  return { pieces, output };
}
