/** Joins this process's terminal with one of a sandbox: keys go there, what it prints comes back. */
import { WebSocket } from 'ws';
import type { Problem } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { CliIo } from '../io.ts';
import { missing } from '../output.ts';
import type { DetachKeys, LocalTerminal } from './local-terminal.ts';

/** The reason of an attachment's end. */
export type Ending =
  | { kind: 'exited'; code: number }
  | { kind: 'detached' }
  | { kind: 'interrupted' }
  | { kind: 'failed'; problem: Problem }
  | { kind: 'lost'; code: number; reason: string };

const NORMAL = 1000;
const { messageBytes, unsentBytes } = limits.terminal;

export class Attachment {
  readonly #io: CliIo;
  readonly #local: LocalTerminal;
  readonly #keys: DetachKeys;
  readonly #feeds = new LineFeeds();
  readonly #ended = Promise.withResolvers<Ending>();
  #socket: WebSocket | null = null;
  #skippedBytes = 0;

  constructor(io: CliIo, local: LocalTerminal, keys: DetachKeys) {
    this.#io = io;
    this.#local = local;
    this.#keys = keys;
  }

  /** To be called before the connection is open, so that no message is lost. */
  listenTo(socket: WebSocket): void {
    this.#socket = socket;
    socket.on('message', (data, isBinary) => {
      if (isBinary) this.#print(data);
      else this.#note(JSON.parse(String(data)));
    });
    socket.on('close', (code, reason) => this.#end({ kind: 'lost', code, reason: String(reason) }));
  }

  /** Resolves at the end, with the local terminal as it was before, and what it has not shown named beneath. */
  async hold(): Promise<Ending> {
    const { stdin, stdout, stderr, signal } = this.#io;
    const typed = (bytes: Buffer) => this.#type(bytes);
    const resized = () => this.#resize();
    const interrupted = () => this.#end({ kind: 'interrupted' });
    const closed = () => this.#end({ kind: 'detached' });
    this.#local.makeRaw();
    try {
      stdin.on('data', typed);
      // The window that this ran in is gone.
      stdin.once('end', closed);
      stdout.on('resize', resized);
      signal.addEventListener('abort', interrupted, { once: true });
      if (signal.aborted) interrupted();
      return await this.#ended.promise;
    } finally {
      stdin.off('data', typed).off('end', closed);
      stdout.off('resize', resized);
      signal.removeEventListener('abort', interrupted);
      this.#local.restore();
      if (this.#skippedBytes > 0) stderr.write(missing(this.#skippedBytes));
      this.#socket?.close(NORMAL, 'The viewer detaches.');
    }
  }

  #print(data: Buffer): void {
    const { stdout } = this.#io;
    if (stdout.write(this.#feeds.translate(data))) return;
    this.#socket?.pause();
    stdout.once('drain', () => this.#socket?.resume());
  }

  #note(note: { type?: string; code?: unknown; bytes?: unknown }): void {
    if (note.type === 'skipped') this.#skippedBytes += Number(note.bytes);
    if (note.type === 'exit') this.#end({ kind: 'exited', code: Number(note.code) });
    if (note.type === 'error') this.#end({ kind: 'failed', problem: note as unknown as Problem });
  }

  #type(bytes: Buffer): void {
    const { pass, detach } = this.#keys.typed(bytes);
    for (let at = 0; at < pass.length; at += messageBytes) {
      this.#send(pass.subarray(at, at + messageBytes), true);
    }
    if (detach) this.#end({ kind: 'detached' });
  }

  #resize(): void {
    const { size } = this.#local;
    if (!size) return;
    const message = { type: 'resize', cols: size.columns, rows: size.rows };
    this.#send(Buffer.from(JSON.stringify(message)), false);
  }

  #send(bytes: Buffer, binary: boolean): void {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) return;
    const { stdin } = this.#io;
    socket.send(bytes, { binary }, () => {
      if (stdin.isPaused() && socket.bufferedAmount <= unsentBytes / 2) stdin.resume();
    });
    if (socket.bufferedAmount > unsentBytes) stdin.pause();
  }

  #end(ending: Ending): void {
    this.#ended.resolve(ending);
  }
}

/**
 * Keeps line feeds what they are. Node's raw mode leaves the kernel adding a return to each, and a program on the whole
 * screen moves the cursor straight down with one: it is written as IND, which no kernel changes.
 */
const FEED = 0x0a;
const RETURN = 0x0d;
const INDEX = Buffer.from('\x1bD');

export class LineFeeds {
  #isAfterReturn = false;

  /** A feed behind a return stays, since a second return changes nothing. */
  translate(bytes: Buffer): Buffer {
    const parts: Buffer[] = [];
    let begin = 0;
    for (let at = bytes.indexOf(FEED); at >= 0; at = bytes.indexOf(FEED, at + 1)) {
      if (at === 0 ? this.#isAfterReturn : bytes[at - 1] === RETURN) continue;
      parts.push(bytes.subarray(begin, at), INDEX);
      begin = at + 1;
    }
    this.#isAfterReturn = bytes.at(-1) === RETURN;
    return parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(begin)]);
  }
}
