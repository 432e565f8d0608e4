/**
 * The main thread's half of the SSH gateway: its thread, and answers to what that asks. The thread accepts the
 * connections and holds all of SSH; when it fails it is replaced, and whoever was inside has left.
 */
import { MessageChannel, Worker } from 'node:worker_threads';
import type { Log } from '../../control/ports.ts';
import type { SshVisit, SshVisits } from '../../control/ssh-visits.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Failure, GatewaySettings, Guest, Order, Report } from './messages.ts';
import { relay } from './relay.ts';

export interface GatewayOptions {
  listen: { host: string; port: number };
  /** In OpenSSH's format. */
  hostKey: string;
  /** The file that the thread begins with. */
  thread: URL;
  visits: Pick<SshVisits, 'enter'>;
  log: Log;
}

export interface SshGateway {
  /** The port is the real one, also when any was asked for. */
  address: { host: string; port: number };
  /** Ends all connections, and with them what they run. */
  close(): Promise<void>;
}

/** Resolves once the address is listened on. Fails with `failed_precondition` when it is taken. */
export async function openSshGateway(options: GatewayOptions): Promise<SshGateway> {
  let thread = new GatewayThread(options, options.listen.port);
  const address = { host: options.listen.host, port: await thread.listening };
  let closing = false;
  let timer: NodeJS.Timeout | undefined;

  const replace = (): void => {
    if (closing) return;
    options.log.error('the thread of the SSH gateway failed; another takes its place');
    timer = setTimeout(() => {
      thread = new GatewayThread(options, address.port);
      thread.listening.catch((error: unknown) => options.log.error('SSH is not served', { error }));
      void thread.ended.then(replace);
    }, limits.ssh.restartMs);
  };
  void thread.ended.then(replace);

  return {
    address,
    async close() {
      closing = true;
      clearTimeout(timer);
      await thread.close();
    },
  };
}

class GatewayThread {
  readonly listening: Promise<number>;
  readonly ended: Promise<void>;
  readonly #worker: Worker;
  readonly #options: GatewayOptions;
  readonly #visits = new Map<string, SshVisit>();
  #entered = 0;
  #listens: (port: number) => void = () => {};
  #fails: (error: Error) => void = () => {};
  #closed: () => void = () => {};

  constructor(options: GatewayOptions, port: number) {
    this.#options = options;
    const settings: GatewaySettings = { host: options.listen.host, port, hostKey: options.hostKey };
    const worker = new Worker(options.thread, {
      name: 'ssh',
      workerData: settings,
      resourceLimits: {
        maxOldGenerationSizeMb: limits.ssh.heapMb,
        maxYoungGenerationSizeMb: limits.ssh.youngHeapMb,
      },
    });
    this.#worker = worker;
    this.listening = new Promise((resolve, reject) => {
      this.#listens = resolve;
      this.#fails = reject;
    });
    this.ended = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#fails(new Error('the thread of the SSH gateway ended'));
        this.#closed();
        for (const visit of this.#visits.values()) visit.leave();
        this.#visits.clear();
        resolve();
      });
    });
    worker.on('error', (error) => options.log.error('the SSH gateway', { error }));
    worker.on('message', (report: Report) => this.#hear(report));
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#closed = resolve;
    });
    this.#order({ type: 'close' });
    const timer = setTimeout(() => this.#closed(), limits.closeGraceMs);
    await closed;
    clearTimeout(timer);
    await this.#worker.terminate();
    await this.ended;
  }

  #hear(report: Report): void {
    switch (report.type) {
      case 'listening':
        this.#listens(report.port);
        break;
      case 'not listening':
        this.#fails(unusable(this.#options.listen, report.code));
        void this.#worker.terminate();
        break;
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
        const { username, password } = report.asked;
        this.#order({ type: 'answer', id, answer: await this.#enter(username, password) });
      } else {
        await this.#openChannel(id, report.asked.key);
      }
    } catch (error) {
      if (!(error instanceof SandhavenError)) this.#options.log.error('the SSH gateway', { error });
      this.#order({ type: 'failure', id, failure: failureOf(error) });
    }
  }

  async #enter(username: string, password: string | null): Promise<Guest | null> {
    const visit = await this.#options.visits.enter(username, password);
    if (!visit) return null;
    const key = `${visit.sandboxId} ${++this.#entered}`;
    this.#visits.set(key, visit);
    void visit.ended.then((reason) => {
      this.#order({ type: 'expel', key, reason });
      // The thread ends the connection at once; this is for a thread that has no time.
      setTimeout(() => visit.leave(), limits.ssh.hangUpGraceMs + limits.ssh.farewellMs).unref();
    });
    const { tokenId, sandboxId, env, refusal } = visit;
    return { key, tokenId, sandboxId, env, refusal };
  }

  async #openChannel(id: number, key: string): Promise<void> {
    const visit = this.#visits.get(key);
    if (!visit) throw new SandhavenError('failed_precondition', 'The SSH connection is over.');
    const channel = await visit.openChannel();
    const { port1, port2 } = new MessageChannel();
    relay(channel, port1);
    this.#worker.postMessage({ type: 'answer', id, answer: port2 } satisfies Order, [port2]);
  }

  #order(order: Order): void {
    this.#worker.postMessage(order);
  }
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof SandhavenError)) {
    return { code: 'internal', detail: 'An internal error occurred.', fields: {} };
  }
  return { code: error.code, detail: error.message, fields: error.fields };
}

function unusable({ host, port }: { host: string; port: number }, code: string): SandhavenError {
  const taken = code === 'EADDRINUSE';
  return new SandhavenError(
    'failed_precondition',
    `${host}:${port} cannot be listened on${taken ? ': another program does' : ` (${code})`}.`,
    { parameter: '--ssh-listen', hint: 'Stop that program, or give another address with --ssh-listen.' },
  );
}
