/** The last lines of live output, passed on once in a while: a client shows them, and no client shows a flood. */
import type { LiveOutput, LivePiece } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import { OutputText } from '../../model/output/output-text.ts';

export class LastLines implements LiveOutput {
  readonly whole = false;
  readonly #pass: (lines: string) => void;
  readonly #decoded = new OutputText();
  #text = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(pass: (lines: string) => void) {
    this.#pass = pass;
  }

  show(piece: LivePiece): undefined {
    this.#text = lastOf(this.#text + this.#decoded.of(piece).text);
    this.#timer ??= setTimeout(this.#passOn, limits.live.mcpIntervalMs);
  }

  /** Passes nothing on afterwards. */
  end(): void {
    clearTimeout(this.#timer);
  }

  readonly #passOn = (): void => {
    this.#timer = undefined;
    const lines = this.#text.trimEnd();
    if (lines !== '') this.#pass(lines);
  };
}

/** Keeps the last lines, and the open one after them. */
function lastOf(text: string): string {
  const lines = text.slice(-limits.live.mcpChars).split('\n');
  const open = lines.pop() ?? '';
  return [...lines.slice(-limits.live.mcpLines), open].join('\n').toWellFormed();
}
