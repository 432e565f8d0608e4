/** Private parts of xterm; tests of the page notice when they have moved. */
import type { Terminal } from '@xterm/xterm';

interface Inner {
  /** Its tables of widths. */
  unicodeService: { _providers: Record<string, { wcwidth(codepoint: number): 0 | 1 | 2 }> };
  /** Its rows are made by the window's own document, whatever xterm was given. */
  _renderService: { _renderer: { value: { _rowFactory: { _document: Document } } } };
}

export function innerOf(terminal: Terminal): Inner {
  return (terminal as unknown as { _core: Inner })._core;
}
