/**
 * A terminal on a WebSocket, as Daytona's clients speak it: its bytes come in binary messages, what is typed goes in any, and
 * its begin and its end are JSON in text messages.
 */
import type { WebSocket } from 'ws';
import type { ProcessEnd, TerminalSink, TerminalView } from '../../../../control/ports/index.ts';
import type { Problem } from '../../../../model/errors.ts';
import { closeCodes, LiveSocket } from '../../../http/base/live-socket.ts';
import type { ServedSocket } from '../../../http/base/web-sockets.ts';

export class PtySocket implements TerminalSink, ServedSocket {
  readonly #socket: LiveSocket;
  /** Others would take the message of the end for output. */
  readonly #readsEnd: boolean;
  #view: TerminalView | null = null;

  constructor(socket: WebSocket, readsEnd: boolean) {
    this.#socket = new LiveSocket(socket, {
      message: (data) => this.#type(data),
      hasRoom: () => this.#view?.resume(),
    });
    this.#readsEnd = readsEnd;
  }

  get closed(): Promise<void> {
    return this.#socket.closed;
  }

  /** Resolves when the terminal has ended or the client has left; rejects when the terminal cannot be seen any more. */
  async carry(view: TerminalView): Promise<void> {
    this.#view = view;
    view.input.on('drain', () => this.#socket.resume());
    this.#control({ status: 'connected' });
    view.show(this);
    const end = await Promise.race([view.ended, this.#socket.left]);
    if (!end) return;
    const exit = exitOf(end);
    if (this.#readsEnd) this.#control({ status: 'exited', ...exit });
    this.close(closeCodes.normal, JSON.stringify(exit));
  }

  data(bytes: Buffer): boolean {
    return this.#socket.send(bytes, { binary: true });
  }

  /** Nothing says so to these clients. */
  skipped(): boolean {
    return !this.#socket.isFull;
  }

  resized(): boolean {
    return !this.#socket.isFull;
  }

  fail(problem: Problem): void {
    const { detail, hint = '' } = problem;
    this.#control({ status: 'error', error: `${detail} ${hint}`.trim() });
    this.#socket.fail(problem);
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #type(data: Buffer): void {
    const input = this.#view?.input;
    if (input && !input.destroyed && !input.write(data)) this.#socket.pause();
  }

  #control(message: object): void {
    this.#socket.say({ type: 'control', ...message });
  }
}

/** A reason is an error to the clients. */
function exitOf({ exitCode, signal }: ProcessEnd): { exitCode: number; exitReason?: string } {
  if (signal !== null) return { exitCode, exitReason: `The shell was ended by ${signal}.` };
  return exitCode === 0 ? { exitCode } : { exitCode, exitReason: `The shell ended with code ${exitCode}.` };
}
