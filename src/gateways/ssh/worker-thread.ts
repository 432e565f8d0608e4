/** Main-thread side of the gateway's thread: hands connections in and answers its questions. */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { SshVisit, SshVisits } from '../../control/access/ssh-visits.ts';
import type { Log } from '../../control/ports/index.ts';
import { isDefect, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { plainAddress } from '../../model/network/arrival.ts';
import type { Failure, GatewaySettings, Guest, Order, Report } from './messages.ts';
import { PortStream } from './port-stream.ts';

interface ThreadOptions {
  file: URL;
  hostKey: string;
  visits: Pick<SshVisits, 'enter'>;
  log: Log;
}

export class GatewayThread {
  /** Resolves when the thread has exited, for any reason. */
  readonly ended: Promise<void>;
  readonly #worker: Worker;
  readonly #options: ThreadOptions;
  readonly #connections = new Map<number, { socket: Socket; loggedIn: () => void }>();
  readonly #visits = new Map<string, SshVisit>();
  #count = 0;
  #over = false;
  #closed: () => void = () => {};

  constructor(options: ThreadOptions) {
    this.#options = options;
    const worker = new Worker(options.file, {
      name: 'ssh',
      workerData: { hostKey: options.hostKey } satisfies GatewaySettings,
      resourceLimits: {
        maxOldGenerationSizeMb: limits.ssh.heapMb,
        maxYoungGenerationSizeMb: limits.ssh.youngHeapMb,
      },
    });
    this.#worker = worker;
    this.ended = new Promise((resolve) => {
      const end = () => {
        this.#leaveAll();
        resolve();
      };
      // Precedes the exit event: a connection accepted in between would go to a dead thread.
      worker.on('error', (error) => {
        end();
        options.log.error('the thread of the SSH gateway failed', { error });
      });
      worker.once('exit', end);
    });
    worker.on('message', (report: Report) => this.#hear(report));
  }

  /** `loggedIn` is called after the client has shown a valid token. */
  connect(socket: Socket, loggedIn: () => void): void {
    const id = ++this.#count;
    const { port1, port2 } = new MessageChannel();
    this.#connections.set(id, { socket, loggedIn });
    socket.once('close', () => this.#connections.delete(id));
    relay(socket, port1);
    this.#order({ type: 'connection', id, address: socket.remoteAddress ?? 'gone', port: port2 }, [port2]);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#closed = resolve;
    });
    this.#order({ type: 'close' });
    const timer = setTimeout(() => this.#closed(), limits.closeGraceMs);
    await Promise.race([closed, this.ended]);
    clearTimeout(timer);
    await this.#worker.terminate();
    await this.ended;
  }

  #leaveAll(): void {
    this.#over = true;
    for (const { socket } of this.#connections.values()) socket.destroy();
    for (const visit of this.#visits.values()) visit.leave();
    this.#visits.clear();
  }

  #hear(report: Report): void {
    switch (report.type) {
      case 'ask':
        void this.#answer(report);
        break;
      case 'left':
        this.#visits.get(report.key)?.leave();
        this.#visits.delete(report.key);
        break;
      case 'log':
        this.#options.log[report.level](report.message, report.context);
        break;
      case 'closed':
        this.#closed();
        break;
    }
  }

  async #answer(report: Extract<Report, { type: 'ask' }>): Promise<void> {
    const { id } = report;
    try {
      if (report.question === 'enter') {
        const { connection, username, password } = report.asked;
        this.#order({ type: 'answer', id, answer: await this.#enter(connection, username, password) });
      } else {
        await this.#openChannel(id, report.asked.key);
      }
    } catch (error) {
      if (isDefect(error, false)) this.#options.log.error('the SSH gateway', { error });
      this.#order({ type: 'failure', id, failure: failureOf(error) });
    }
  }

  async #enter(connection: number, username: string, password: string | null): Promise<Guest | null> {
    const { remoteAddress = '' } = this.#connections.get(connection)?.socket ?? {};
    const visit = await this.#options.visits.enter(username, password, plainAddress(remoteAddress) || null);
    if (!visit) return null;
    if (this.#over) {
      visit.leave();
      return null;
    }
    this.#connections.get(connection)?.loggedIn();
    const key = `${visit.sandboxId} ${connection}`;
    this.#visits.set(key, visit);
    void visit.ended.then((reason) => {
      this.#order({ type: 'expel', key, reason });
      // The thread ends the connection at once; this timer covers a thread that is too busy.
      setTimeout(() => {
        visit.leave();
        this.#connections.get(connection)?.socket.destroy();
      }, limits.ssh.hangUpGraceMs + limits.ssh.farewellMs).unref();
    });
    const { tokenId, sandboxId, user, env, refusal } = visit;
    return { key, tokenId, sandboxId, user, env, refusal };
  }

  async #openChannel(id: number, key: string): Promise<void> {
    const visit = this.#visits.get(key);
    if (!visit) throw new SandhavenError('failed_precondition', 'The SSH connection is over.');
    const channel = await visit.openChannel();
    const { port1, port2 } = new MessageChannel();
    relay(channel, port1);
    this.#order({ type: 'answer', id, answer: port2 }, [port2]);
  }

  #order(order: Order, ports: MessageChannel['port2'][] = []): void {
    this.#worker.postMessage(order, ports);
  }
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof SandhavenError)) {
    return { code: 'internal', detail: 'An internal error occurred.', fields: {} };
  }
  return { code: error.code, detail: error.message, fields: error.fields };
}

/** Relays bytes between a connection and a thread, both ways, until both have ended or one is gone. */
export function relay(connection: Duplex, port: MessagePort): void {
  const stream = new PortStream(port);
  connection.pipe(stream);
  stream.pipe(connection);
  // Closing the connection cancels the work at its other end, after any error.
  connection.on('error', () => stream.destroy());
  stream.on('error', () => connection.destroy());
  stream.on('close', () => connection.destroy());
  connection.on('close', () => {
    if (!connection.readableEnded) stream.destroy();
  });
}
