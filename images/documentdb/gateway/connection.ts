/**
 * Serves one client's connection: one message after the other, each answered before the next is begun. While a
 * command runs the socket is still read, a little, so that the end of the connection is noticed and cancels the
 * command.
 */
import type { Duplex } from 'node:stream';
import type { Client } from './command.ts';
import { runCommand } from './commands.ts';
import type { Cursors } from './cursors.ts';
import type { Database } from './database.ts';
import { Fault, faultDocument } from './faults.ts';
import { Framing } from './framing.ts';
import { limits } from './limits.ts';
import { encodeReply, parseRequest, type Request } from './message.ts';

export interface Services {
  database: Database;
  cursors: Cursors;
}

export class Connection {
  readonly #socket: Duplex;
  readonly #services: Services;
  readonly #client: Client;
  readonly #framing = new Framing();
  readonly #gone = new AbortController();
  #isBusy = false;
  #isEnding = false;

  constructor(id: number, socket: Duplex, services: Services) {
    this.#socket = socket;
    this.#services = services;
    this.#client = { id, role: null, login: null };
    socket.on('error', () => {});
    socket.on('end', () => this.#go());
    socket.on('close', () => this.#go());
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
  }

  /** Ends after the running command, if there is one. */
  end(): void {
    this.#isEnding = true;
    if (!this.#isBusy) this.#socket.destroy();
  }

  #go(): void {
    if (this.#gone.signal.aborted) return;
    this.#gone.abort(new Fault('ShutdownInProgress', 'the client went'));
    this.#services.cursors.orphan(this.#client.id);
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#framing.push(chunk);
    if (!this.#isBusy) void this.#work();
    else if (this.#framing.bytesWaiting > limits.aheadBytes) this.#socket.pause();
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    try {
      for (let message = this.#next(); message; message = this.#next()) await this.#answer(message);
    } catch {
      // A malformed message has no sender to answer.
      this.#socket.destroy();
    }
    this.#isBusy = false;
    if (this.#isEnding) this.#socket.destroy();
    else this.#socket.resume();
  }

  #next(): Buffer | null {
    if (this.#isEnding || this.#gone.signal.aborted) return null;
    return this.#framing.next(this.#client.role === null ? limits.unknownMessageBytes : limits.messageBytes);
  }

  async #answer(message: Buffer): Promise<void> {
    const id = message.readInt32LE(4);
    let request: Pick<Request, 'id' | 'isQuery' | 'isUnanswered'> = {
      id,
      isQuery: false,
      isUnanswered: false,
    };
    let reply: Uint8Array;
    try {
      const parsed = parseRequest(message);
      request = parsed;
      const { signal } = this.#gone;
      reply = await runCommand({ ...this.#services, client: this.#client, request: parsed, signal });
    } catch (error) {
      if (error instanceof Fault && error.codeName === 'ProtocolError') throw error;
      reply = faultDocument(error);
    }
    if (!request.isUnanswered && !this.#gone.signal.aborted) await this.#write(encodeReply(request, reply));
  }

  /** Waits for a slow client. */
  async #write([head, document]: [Buffer, Uint8Array]): Promise<void> {
    this.#socket.cork();
    this.#socket.write(head);
    const isRoom = this.#socket.write(document);
    this.#socket.uncork();
    if (isRoom) return;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        this.#socket.off('drain', go).off('close', go);
        resolve();
      };
      this.#socket.on('drain', go).on('close', go);
    });
  }
}
