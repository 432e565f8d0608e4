/**
 * One held connection per running machine. At its end the engine is asked for the machine's state: root inside can
 * close the agent's connections at will, so only the machine's death counts. No connection is opened to a machine that sleeps,
 * since that would wake it.
 */
import type { AgentLink, Log, Runtime } from '../ports/index.ts';

const RETRY_MS = 1_000;

export class Watches {
  readonly #agent: Pick<AgentLink, 'watch'>;
  readonly #runtime: Pick<Runtime, 'inspect' | 'sleep'>;
  readonly #log: Log;
  readonly #watches = new Map<string, AbortController>();

  constructor(agent: Pick<AgentLink, 'watch'>, runtime: Pick<Runtime, 'inspect' | 'sleep'>, log: Log) {
    this.#agent = agent;
    this.#runtime = runtime;
    this.#log = log;
  }

  /** Calls `onDead` once, when the machine is gone before the watch ends. */
  begin(id: string, onDead: () => Promise<void>): void {
    this.end(id);
    const controller = new AbortController();
    this.#watches.set(id, controller);
    this.#follow(id, controller.signal)
      .then(() => (controller.signal.aborted ? undefined : onDead()))
      .catch((error: unknown) => this.#log.error('watch failed', { sandbox: id, error }));
  }

  has(id: string): boolean {
    return this.#watches.has(id);
  }

  end(id: string): void {
    this.#watches.get(id)?.abort();
    this.#watches.delete(id);
  }

  endAll(): void {
    for (const id of [...this.#watches.keys()]) this.end(id);
  }

  async #follow(id: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { sleep: asleep } = this.#runtime;
      if (asleep && asleep.since(id) !== null) await asleep.awake(id, signal);
      if (signal.aborted) return;
      await this.#agent.watch(id, signal).catch(() => {});
      if (signal.aborted) return;
      const observed = await this.#runtime.inspect(id).catch(() => undefined);
      if (observed !== undefined && (observed === null || observed.runningGeneration === null)) return;
      await sleep(RETRY_MS, signal);
    }
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done, { once: true });
  });
}
