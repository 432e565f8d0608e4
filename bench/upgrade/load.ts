/** A steady load on a service: clients that each repeat one kind of call at a fixed pace, whether it fails or not. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Sandhaven, SandhavenError } from '../../sdk/src/index.ts';

export type Retries = 'none' | 'default';

/** Times are milliseconds of performance.now(). */
export interface Call {
  tool: string;
  retries: Retries;
  begun: number;
  ended: number;
  /** null when it succeeded. */
  failure: string | null;
}

export interface Load {
  /** Ended calls, in the order of their end. */
  calls: readonly Call[];
  /** Last content that WriteFile has acknowledged, by sandbox. */
  written: ReadonlyMap<string, number>;
  /** Lets calls in progress end. */
  stop(): Promise<void>;
}

type Work = (client: Sandhaven, sandbox: string, count: number) => Promise<unknown>;

/** Each client begins a call so often, or when the one before has ended, if that is later. */
const PACE_MS = 100;
/** A creation and a deletion cost as much as many other calls. */
const CREATION_PACE_MS = 1_000;
export const LOAD_SESSION = 'load';
export const LOAD_FILE = 'load.txt';

/** Starts one client for each kind of call without retries, and one more with the default ones. */
export function startLoad(service: { url: string; apiKey: string }, sandboxes: readonly string[]): Load {
  const calls: Call[] = [];
  const written = new Map<string, number>();
  const ending = new AbortController();
  const kinds: [Work, number][] = [
    [(client, sandbox) => client.runCommand({ sandbox, command: 'true' }), PACE_MS],
    [(client, sandbox) => client.runCode({ sandbox, code: 'print(1)' }), PACE_MS],
    [sessionCommand, PACE_MS],
    [writeAndRead, PACE_MS],
    [lookAround, PACE_MS],
    [createAndDelete, CREATION_PACE_MS],
  ];

  /** Notes each call of the client by itself. */
  function noted(retries: Retries): Sandhaven {
    const client = new Sandhaven({ ...service, ...(retries === 'none' ? { maxRetries: 0 } : {}) });
    return new Proxy(client, {
      get(target, name) {
        const method = Reflect.get(target, name) as (parameters: object) => Promise<unknown>;
        return (parameters: object) => note(String(name), retries, () => method.call(target, parameters));
      },
    });
  }

  async function note<T>(method: string, retries: Retries, work: () => Promise<T>): Promise<T> {
    const tool = method.charAt(0).toUpperCase() + method.slice(1);
    const begun = performance.now();
    const end = (failure: string | null) =>
      calls.push({ tool, retries, begun, ended: performance.now(), failure });
    try {
      const result = await work();
      end(null);
      return result;
    } catch (error) {
      end(failureOf(error));
      throw error;
    }
  }

  async function repeat(client: Sandhaven, sandbox: string, work: Work, paceMs: number): Promise<void> {
    for (let count = 1; !ending.signal.aborted; count++) {
      const pause = sleep(paceMs, undefined, { signal: ending.signal }).catch(() => {});
      // A failure is noted already.
      await work(client, sandbox, count).catch(() => {});
      await pause;
    }
  }

  async function writeAndRead(client: Sandhaven, sandbox: string, count: number): Promise<void> {
    await client.writeFile({ sandbox, path: LOAD_FILE, content: String(count) });
    written.set(sandbox, count);
    await client.readFile({ sandbox, path: LOAD_FILE });
  }

  const clients = (['none', 'default'] as const).flatMap((retries) =>
    kinds.map(([work, paceMs]) => ({ retries, work, paceMs })),
  );
  const running = clients.map(({ retries, work, paceMs }, at) =>
    repeat(noted(retries), sandboxes[at % sandboxes.length] as string, work, paceMs),
  );
  return {
    calls,
    written,
    async stop() {
      ending.abort();
      await Promise.all(running);
    },
  };
}

async function sessionCommand(client: Sandhaven, sandbox: string): Promise<void> {
  await client.runSessionCommand({ sandbox, session_id: LOAD_SESSION, command: 'true' });
}

async function lookAround(client: Sandhaven, sandbox: string): Promise<void> {
  await client.getSandbox({ sandbox });
  await client.listSandboxes({});
}

async function createAndDelete(client: Sandhaven): Promise<void> {
  const { id } = await client.createSandbox({ disk_gb: 1, memory_gb: 1, cpu: 1 });
  await client.deleteSandbox({ sandbox: id });
}

/** The code, and the system's own where the connection failed. */
export function failureOf(error: unknown): string {
  if (!(error instanceof SandhavenError)) return String(error);
  const codes: string[] = [];
  for (let cause: unknown = error.cause; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code) codes.push(code);
  }
  return [error.code, ...codes.slice(-1)].join(' ');
}
