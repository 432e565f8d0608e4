/**
 * A viewer's connection to a terminal. A lost one is made again until the terminal has ended or the service refuses; the
 * terminal itself goes on meanwhile.
 */
import type { Problem } from '@sandhaven/sdk';
import { waitMs } from './backoff.ts';
import { addressOf, inPieces, type Note, pathOf, type Target, WINDOW_BYTES } from './messages.ts';
import type { ConnectionState } from './state.ts';

export interface ConnectionEvents {
  state(state: ConnectionState): void;
  /** @param again True after a lost connection: the output begins anew. */
  ready(note: Note & { type: 'ready' }, again: boolean): void;
  printed(bytes: Uint8Array): void;
  resized(size: { cols: number; rows: number }): void;
  skipped(bytes: number): void;
  /** Resolves with false when the terminal is gone. */
  exists(): Promise<boolean>;
  /** Rejects with the service's refusal of a connection to this path, which browsers do not show for WebSockets. */
  mayConnect(path: string): Promise<void>;
  errorOf(problem: Problem): unknown;
  size(): { cols: number; rows: number };
}

/** Unsent bytes beyond which a paste is not taken. */
const UNSENT_BYTES = 2 * 1024 * 1024;
const NORMAL = 1_000;
/** The service stops, and another takes its place. */
const GOING_AWAY = 1_001;
const REVOKED = 1_008;
const PROBLEM = 4_000;

export class Connection {
  readonly #target: Target;
  readonly #events: ConnectionEvents;
  #socket: WebSocket | null = null;
  #attempt = 0;
  #wasOpen = false;
  /** True once shown bytes belong to this connection, and not to the previous one. */
  #isReady = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Shown, and not yet reported. */
  #shownBytes = 0;
  #left = false;

  constructor(target: Target, events: ConnectionEvents) {
    this.#target = target;
    this.#events = events;
    window.addEventListener('online', this.#hurry);
    window.addEventListener('pagehide', this.#hidden);
    window.addEventListener('pageshow', this.#back);
    this.#connect();
  }

  /** Returns false when nothing was sent. */
  send(bytes: Uint8Array<ArrayBuffer>): boolean {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN || socket.bufferedAmount > UNSENT_BYTES) return false;
    for (const piece of inPieces(bytes)) socket.send(piece);
    return true;
  }

  resize(size: { cols: number; rows: number }): void {
    this.#say({ type: 'resize', ...size });
  }

  /** Lets the service send that many more bytes. */
  shown(bytes: number): void {
    if (!this.#isReady) return;
    this.#shownBytes += bytes;
    if (this.#shownBytes < WINDOW_BYTES / 8) return;
    this.#say({ type: 'shown', bytes: this.#shownBytes });
    this.#shownBytes = 0;
  }

  /** Leaves; the terminal goes on. */
  leave(): void {
    this.#left = true;
    window.removeEventListener('online', this.#hurry);
    window.removeEventListener('pagehide', this.#hidden);
    window.removeEventListener('pageshow', this.#back);
    clearTimeout(this.#timer);
    this.#socket?.close(NORMAL);
  }

  /** Tries at once. */
  retry(): void {
    clearTimeout(this.#timer);
    this.#connect();
  }

  readonly #hurry = () => {
    if (this.#timer !== undefined) this.retry();
  };

  /** A page in the browser's back-forward cache views no terminal. */
  readonly #hidden = () => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(NORMAL);
  };

  readonly #back = ({ persisted }: PageTransitionEvent) => {
    if (persisted) this.#connect();
  };

  #connect(): void {
    this.#timer = undefined;
    this.#shownBytes = 0;
    this.#isReady = false;
    this.#events.state({ name: 'connecting' });
    const socket = new WebSocket(addressOf(this.#path()));
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    let last: Note | null = null;
    socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (this.#left || this.#socket !== socket) return;
      if (typeof data !== 'string') this.#events.printed(new Uint8Array(data));
      else {
        last = JSON.parse(data) as Note;
        this.#take(last);
      }
    });
    socket.addEventListener('close', ({ code }) => {
      if (!this.#left && this.#socket === socket) this.#closed(socket, code, last);
    });
  }

  #take(note: Note): void {
    if (note.type === 'ready') {
      this.#events.ready(note, this.#wasOpen);
      this.#isReady = true;
      this.#wasOpen = true;
      this.#attempt = 0;
      this.#events.state({ name: 'open' });
    }
    if (note.type === 'size') this.#events.resized(note);
    if (note.type === 'skipped') this.#events.skipped(note.bytes);
  }

  #closed(socket: WebSocket, code: number, last: Note | null): void {
    if (last?.type === 'exit') {
      this.#events.state({ name: 'ended', code: last.code, signal: last.signal });
    } else if (last?.type === 'error' && (code === REVOKED || code >= PROBLEM) && !last.retryable) {
      this.#events.state({ name: 'refused', error: this.#events.errorOf(last) });
    } else if (code === GOING_AWAY) this.#wait();
    else void this.#ask(socket);
  }

  /** Finds out why there is no connection, since browsers hide the cause. */
  async #ask(socket: WebSocket): Promise<void> {
    // Left, hidden, or connected anew meanwhile.
    const isOver = () => this.#left || this.#socket !== socket;
    try {
      if (!this.#wasOpen) await this.#events.mayConnect(this.#path());
      const isThere = await this.#events.exists();
      if (isOver()) return;
      if (this.#wasOpen && !isThere) this.#events.state({ name: 'ended', code: null, signal: null });
      else this.#wait();
    } catch (error) {
      if (isOver()) return;
      if (this.#wasOpen && isRetryable(error)) this.#wait();
      else this.#events.state({ name: 'refused', error });
    }
  }

  #path(): string {
    return pathOf(this.#target, this.#events.size(), !this.#wasOpen);
  }

  #wait(): void {
    const delay = waitMs(this.#attempt, Math.random());
    this.#attempt += 1;
    this.#events.state({ name: 'lost', waitMs: delay });
    this.#timer = setTimeout(() => this.#connect(), delay);
  }

  #say(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}

function isRetryable(error: unknown): boolean {
  return error instanceof Error && 'retryable' in error && error.retryable === true;
}
