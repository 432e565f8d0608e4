/** Gateway-thread side of the main thread: questions with answers, streams to agents, the log. */
import type { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import type { Credentials, Failure, Guest, Order, Question, Questions, Report } from '../messages.ts';
import { PortStream } from '../port-stream.ts';

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

interface Handlers {
  /** Receives another client, with its bytes on a port of their own. */
  connection(port: MessagePort, caller: { id: number; address: string }): void;
  close(): void;
}

export class MainThread {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, Waiting>();
  readonly #expelled = new Map<string, (reason: string) => void>();
  /** Expelled before `whenExpelled` was called. */
  readonly #early = new Map<string, string>();
  #asked = 0;
  readonly log: Log;

  constructor(port: MessagePort) {
    this.#port = port;
    const log = (level: 'info' | 'warn' | 'error') => (message: string, context?: Record<string, unknown>) =>
      this.report({ type: 'log', level, message, context: context ?? {} });
    this.log = { info: log('info'), warn: log('warn'), error: log('error') };
  }

  /** Starts receiving messages. */
  on(handlers: Handlers): void {
    this.#port.on('message', (order: Order) => {
      if (order.type === 'close') handlers.close();
      else if (order.type === 'connection') handlers.connection(order.port, order);
      else this.#obey(order);
    });
  }

  report(report: Report): void {
    this.#port.postMessage(report);
  }

  /** Resolves with null when neither is a valid token. Every guest must leave with `leave`. */
  async enter(credentials: Credentials): Promise<Guest | null> {
    return this.#ask('enter', credentials);
  }

  /** `expelled` is called at most once, when the connection has to end before `leave`. */
  whenExpelled(key: string, expelled: (reason: string) => void): void {
    const reason = this.#early.get(key);
    if (reason === undefined) this.#expelled.set(key, expelled);
    else expelled(reason);
  }

  leave(key: string): void {
    this.#expelled.delete(key);
    this.#early.delete(key);
    this.report({ type: 'left', key });
  }

  async openChannel(key: string): Promise<Duplex> {
    return new PortStream(await this.#ask('channel', { key }), { keepsChunks: true });
  }

  #ask<Q extends Question>(question: Q, asked: Questions[Q]['asked']): Promise<Questions[Q]['answer']> {
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (answer: unknown) => void, reject });
      this.report({ type: 'ask', id, question, asked } as Report);
    });
  }

  #obey(order: Exclude<Order, { type: 'close' | 'connection' }>): void {
    if (order.type === 'expel') {
      const expelled = this.#expelled.get(order.key);
      this.#expelled.delete(order.key);
      if (expelled) expelled(order.reason);
      else this.#early.set(order.key, order.reason);
      return;
    }
    const waiting = this.#waiting.get(order.id);
    this.#waiting.delete(order.id);
    if (order.type === 'answer') waiting?.resolve(order.answer);
    else waiting?.reject(errorOf(order.failure));
  }
}

function errorOf({ code, detail, fields }: Failure): SandhavenError {
  return new SandhavenError(code, detail, fields);
}
