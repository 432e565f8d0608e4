/** Output of a program while it runs, for the listeners of a call. */

export interface OutputPiece {
  stream: 'stdout' | 'stderr';
  /** As the program wrote them; a piece may end within a character. */
  bytes: Uint8Array;
  /**
   * Bytes that are missing before these: a session's command does not wait for those who watch it, and old output of a
   * process is forgotten while nobody follows it.
   */
  leftOutBytes: number;
}

/** @param leftOutBytes As in a piece. */
export type OnOutput = (text: string, leftOutBytes: number) => unknown;

/** The returned value is awaited before more is read. The program waits meanwhile, as for the reader of a pipe. */
export interface OutputListeners {
  /** Receives a program's output while it runs, byte for byte and in the order of the writes. */
  onOutput?: (piece: OutputPiece) => unknown;
  /** Receives it as text, in whole characters. */
  onStdout?: OnOutput;
  onStderr?: OnOutput;
}

/** An event of a service; an earlier one sends text. */
export interface OutputEvent {
  stream: OutputPiece['stream'];
  base64?: string;
  text?: string;
  left_out_bytes?: number;
}

const decoder = () => new TextDecoder('utf-8', { ignoreBOM: true });

export function listens({ onOutput, onStdout, onStderr }: OutputListeners): boolean {
  return Boolean(onOutput ?? onStdout ?? onStderr);
}

export class Output {
  readonly #listeners: OutputListeners;
  readonly #decoders = { stdout: decoder(), stderr: decoder() };

  constructor(listeners: OutputListeners) {
    this.#listeners = listeners;
  }

  /** Returns the number of bytes, once the listeners have taken them. */
  async take({ stream, base64, text = '', left_out_bytes: leftOutBytes = 0 }: OutputEvent): Promise<number> {
    const bytes = base64 === undefined ? new TextEncoder().encode(text) : bytesOf(base64);
    await this.#listeners.onOutput?.({ stream, bytes, leftOutBytes });
    await this.#say(stream, this.#decoders[stream].decode(bytes, { stream: true }), leftOutBytes);
    return bytes.length;
  }

  /** Passes on the rest of a stream that ended within a character. */
  async end(): Promise<void> {
    for (const stream of ['stdout', 'stderr'] as const) {
      await this.#say(stream, this.#decoders[stream].decode(), 0);
    }
  }

  async #say(stream: OutputPiece['stream'], text: string, leftOutBytes: number): Promise<void> {
    const listener = stream === 'stdout' ? this.#listeners.onStdout : this.#listeners.onStderr;
    if (text !== '' || leftOutBytes > 0) await listener?.(text, leftOutBytes);
  }
}

/** A loop: `Uint8Array.from` with a function takes ten times as long, and a gigabyte comes this way. */
function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
