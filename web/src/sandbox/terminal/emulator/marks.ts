/**
 * Bounds the marks that combine with one character: xterm keeps and paints all of them in one cell, and a program may print
 * millions.
 */
import type { IUnicodeVersionProvider, Terminal } from '@xterm/xterm';
import { innerOf } from './inner.ts';

const MARKS = 16;
const VERSION = 'bounded';

/** Parts of a character's properties, as xterm packs them: a number of our own, the width in two bits, joined or not. */
const OWN_SHIFT = 3;
const WIDTH_SHIFT = 1;
const WIDTH_MASK = 3;

export function boundMarks(terminal: Terminal, wcwidth: (codepoint: number) => 0 | 1 | 2): void {
  const provider: IUnicodeVersionProvider = {
    version: VERSION,
    wcwidth,
    charProperties(codepoint, preceding) {
      const width = wcwidth(codepoint);
      const before = (preceding >> WIDTH_SHIFT) & WIDTH_MASK;
      if (width !== 0 || before === 0) return packed(0, width, false);
      const marks = (preceding >> OWN_SHIFT) + 1;
      // One too many stands by itself.
      return marks > MARKS ? packed(0, 1, false) : packed(marks, before, true);
    },
  };
  terminal.unicode.register(provider);
  terminal.unicode.activeVersion = VERSION;
}

function packed(own: number, width: number, joined: boolean): number {
  return (own << OWN_SHIFT) | (width << WIDTH_SHIFT) | (joined ? 1 : 0);
}

/** The widths that xterm begins with. */
export function widthsOf(terminal: Terminal): (codepoint: number) => 0 | 1 | 2 {
  const provider = innerOf(terminal).unicodeService._providers['6'];
  if (!provider) throw new Error('xterm has no table of widths any more.');
  return (codepoint) => provider.wcwidth(codepoint);
}
