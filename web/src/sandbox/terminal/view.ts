/** One terminal on the screen: the emulator, its connection, and the pace between the two. */
import { SandhavenError } from '@sandhaven/sdk';
import { Connection, type ConnectionEvents } from './connection/connection.ts';
import type { Target } from './connection/messages.ts';
import { type ConnectionState, skipped, takenUpAgain } from './connection/state.ts';
import { Emulator, type Size } from './emulator/emulator.ts';
import { type ArrowName, arrow, pageKeyOf, withCtrl } from './emulator/keys.ts';
import { PASTE_CHARS, pasteable, tooLong } from './emulator/paste.ts';
import { Writer } from './emulator/writer.ts';

export interface ViewEvents {
  state(state: ConnectionState): void;
  /** A sentence about the output, to be shown until the next one. */
  note(text: string): void;
  /** The visitor leaves by keyboard. */
  leave(): void;
  copy(text: string): void;
  /** The page's Ctrl key has been used, or was pressed. */
  ctrl(held: boolean): void;
  exists(): Promise<boolean>;
  mayConnect(path: string): Promise<void>;
}

export interface ViewOptions {
  scheme: 'light' | 'dark';
  screenReader: boolean;
}

/** Size of a terminal whose box is not laid out yet. */
const unknown: Size = { cols: 80, rows: 24 };

export class View {
  readonly #emulator: Emulator;
  readonly #connection: Connection;
  readonly #events: ViewEvents;
  readonly #observer: ResizeObserver;
  readonly #host: HTMLElement;
  readonly #encoder = new TextEncoder();
  #writer: Writer;
  #size: Size;
  #ctrl = false;

  constructor(host: HTMLElement, target: Target, options: ViewOptions, events: ViewEvents) {
    this.#events = events;
    this.#host = host;
    this.#emulator = new Emulator(host, {
      ...options,
      typed: (keys) => this.#type(keys),
      reported: (bytes) => void this.#connection.send(bytes as Uint8Array<ArrayBuffer>),
      key: (event) => this.#key(event),
    });
    this.#size = this.#emulator.fitting() ?? unknown;
    this.#emulator.resize(this.#size);
    this.#writer = this.#newWriter();
    this.#connection = new Connection(target, this.#connectionEvents());
    this.#observer = new ResizeObserver(() => this.#fit());
    this.#observer.observe(host);
    // Before xterm, which would paste the text as it is.
    host.addEventListener('paste', this.#pasted, { capture: true });
  }

  focus(): void {
    this.#emulator.terminal.focus();
  }

  recolour(scheme: ViewOptions['scheme']): void {
    this.#emulator.recolour(scheme);
  }

  /** A key of the page's own row. */
  press(keys: string): void {
    this.#type(keys);
    this.focus();
  }

  arrow(name: ArrowName): void {
    this.press(arrow(name, this.#emulator.terminal.modes.applicationCursorKeysMode));
  }

  holdCtrl(held: boolean): void {
    this.#ctrl = held;
    this.#events.ctrl(held);
    this.focus();
  }

  selection(): string {
    return this.#emulator.terminal.getSelection();
  }

  paste(text: string): void {
    if (text.length > PASTE_CHARS) this.#events.note(tooLong);
    else this.#emulator.terminal.paste(pasteable(text));
    this.focus();
  }

  retry(): void {
    this.#connection.retry();
  }

  /** Leaves; the terminal goes on. */
  remove(): void {
    this.#observer.disconnect();
    this.#host.removeEventListener('paste', this.#pasted, { capture: true });
    this.#writer.end();
    this.#connection.leave();
    this.#emulator.remove();
  }

  #connectionEvents(): ConnectionEvents {
    return {
      state: (state) => this.#events.state(state),
      ready: (ready, again) => {
        if (again) {
          // What waits is shown again by what comes.
          this.#writer.end();
          this.#writer = this.#newWriter();
          this.#emulator.terminal.reset();
          this.#events.note(takenUpAgain(ready.scrollback_bytes));
        }
        this.#emulator.resize(ready);
      },
      printed: (bytes) => this.#writer.write(bytes),
      resized: (size) => this.#emulator.resize(size),
      skipped: (bytes) => this.#events.note(skipped(bytes)),
      exists: () => this.#events.exists(),
      mayConnect: (path) => this.#events.mayConnect(path),
      errorOf: (problem) => new SandhavenError(problem),
      size: () => this.#size,
    };
  }

  #newWriter(): Writer {
    const { terminal } = this.#emulator;
    return new Writer(terminal, (bytes) => this.#connection.shown(bytes));
  }

  #type(keys: string): void {
    const isHeld = this.#ctrl && keys.length === 1;
    if (isHeld) {
      this.#ctrl = false;
      this.#events.ctrl(false);
    }
    this.#connection.send(this.#encoder.encode(isHeld ? withCtrl(keys) : keys));
  }

  #key(event: KeyboardEvent): boolean {
    const key = pageKeyOf(event, this.#emulator.terminal.hasSelection());
    if (key === 'program') return true;
    // The browser pastes by itself, and then says so.
    if (key === 'paste') return false;
    event.preventDefault();
    if (event.type !== 'keydown') return false;
    if (key === 'leave') this.#events.leave();
    else {
      this.#events.copy(this.selection());
      this.#emulator.terminal.clearSelection();
    }
    return false;
  }

  readonly #pasted = (event: ClipboardEvent) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    this.paste(event.clipboardData?.getData('text/plain') ?? '');
  };

  #fit(): void {
    const size = this.#emulator.fitting();
    if (!size || (size.cols === this.#size.cols && size.rows === this.#size.rows)) return;
    this.#size = size;
    this.#emulator.resize(size);
    this.#connection.resize(size);
  }
}
