/** xterm for this page: guarded against output of sandboxes, within the page's policy, with bounded memory. */
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { coloursOf } from './colours.ts';
import { guard } from './guard.ts';
import { innerOf } from './inner.ts';
import { boundMarks, widthsOf } from './marks.ts';
import { documentUnderPolicy, Sheets, withSheets } from './policy.ts';

export interface Size {
  cols: number;
  rows: number;
}

const SCROLLBACK_LINES = 5_000;
/** A larger terminal of another viewer is not drawn whole. */
const largest: Size = { cols: 500, rows: 250 };
const CONTRAST = 4.5;

export interface EmulatorOptions {
  scheme: 'light' | 'dark';
  screenReader: boolean;
  /** Gets typed input, and answers to the program. */
  typed(keys: string): void;
  /** Gets reports of the mouse that are no text. */
  reported(bytes: Uint8Array): void;
  /** Returns false for a key that is not for the program. */
  key(event: KeyboardEvent): boolean;
}

export class Emulator {
  readonly terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #sheets = new Sheets();

  constructor(host: HTMLElement, { scheme, screenReader, typed, reported, key }: EmulatorOptions) {
    const own = documentUnderPolicy(this.#sheets);
    this.terminal = new Terminal({
      // For `unicode` alone.
      allowProposedApi: true,
      documentOverride: own,
      ...{ cursorBlink: false, fontSize: 13, lineHeight: 1.2, fontFamily: fontOf() },
      ...{ scrollback: SCROLLBACK_LINES, minimumContrastRatio: CONTRAST, screenReaderMode: screenReader },
      ...{ macOptionIsMeta: true, windowOptions: {}, logLevel: 'off', theme: coloursOf(scheme) },
      linkHandler: { activate() {}, allowNonHttpProtocols: false },
    });
    this.terminal.loadAddon(this.#fit);
    guard(this.terminal);
    boundMarks(this.terminal, widthsOf(this.terminal));
    this.terminal.attachCustomKeyEventHandler(key);
    this.terminal.onData(typed);
    this.terminal.onBinary((data) => reported(Uint8Array.from(data, (char) => char.charCodeAt(0))));
    withSheets(this.#sheets, () => this.terminal.open(host));
    innerOf(this.terminal)._renderService._renderer.value._rowFactory._document = own;
  }

  /** Size that fills the box; null while it is not shown. */
  fitting(): Size | null {
    const found = this.#fit.proposeDimensions();
    if (!found || Number.isNaN(found.cols) || Number.isNaN(found.rows)) return null;
    return bounded(found);
  }

  resize(size: Size): void {
    const { cols, rows } = bounded(size);
    if (cols !== this.terminal.cols || rows !== this.terminal.rows) this.terminal.resize(cols, rows);
  }

  recolour(scheme: 'light' | 'dark'): void {
    this.terminal.options.theme = coloursOf(scheme);
  }

  remove(): void {
    this.terminal.dispose();
    this.#sheets.remove();
  }
}

function bounded({ cols, rows }: Size): Size {
  return { cols: clamp(cols, 2, largest.cols), rows: clamp(rows, 1, largest.rows) };
}

const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));

function fontOf(): string {
  const style = getComputedStyle(document.documentElement);
  return style.getPropertyValue('--mantine-font-family-monospace').trim() || 'monospace';
}
