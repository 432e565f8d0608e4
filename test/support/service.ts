/** A real service in a process of its own, on free ports, with a data directory that is removed at the end. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';

export const bin = new URL('../../bin/sandhaven', import.meta.url).pathname;

/** Addresses that are free, for a service that a test starts by itself. */
export const freeGateways = ['--preview-listen', '127.0.0.1:0', '--ssh-listen', '127.0.0.1:0'];
export const freeAddresses = ['--listen', '127.0.0.1:0', ...freeGateways];

export interface Service {
  url: string;
  apiKey: string;
  dataDir: string;
  pid: number;
  /** SIGTERM, and waits; sandboxes go on. */
  terminate(): Promise<number | null>;
  /** SIGKILL, and waits. */
  kill(): Promise<void>;
  /** Starts another process over the same data directory. */
  restart(): Promise<void>;
  /**
   * Ends it and removes every trace of its data directory, sandboxes included; does nothing the second time. Rejects when its log
   * has errors that the test does not provoke.
   */
  stop(): Promise<void>;
  /** What the process has written to its log so far. */
  log(): string;
  /** Runs a statement on the database of the store, behind the service's back. */
  changeStore(sql: string): Promise<void>;
  /** All that the store holds, to search in. */
  storeText(): Promise<string>;
}

export interface ServiceOptions {
  env?: Record<string, string>;
  flags?: string[];
  dataDir?: string;
  /** Of another checkout. */
  program?: string;
  /** Messages of level error that the test provokes: all others are the service's own faults. */
  provokes?: readonly string[];
  /** Says nothing of the gateways' addresses, as most operators do. */
  standardGateways?: boolean;
  /** The kernel weighs it apart from the test. What ends the test's process group does not end it. */
  ownSession?: boolean;
}

const READY_TIMEOUT_MS = 60_000;
/** Longer than all the bounds of a stop together. */
const STOP_TIMEOUT_MS = 60_000;
const PURGE_TIMEOUT_MS = 120_000;

/** On this machine, or in the runs on a cluster as replicas there. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  if (process.env['SANDHAVEN_TEST_ENGINE'] !== 'kubernetes') return startServiceHere(options);
  const { startClusterService } = await import('./cluster-engine/service.ts');
  return startClusterService(options);
}

async function startServiceHere(options: ServiceOptions): Promise<Service> {
  const { env = {}, flags = [], dataDir, program = bin, provokes = [] } = options;
  const { standardGateways = false, ownSession = false } = options;
  const directory = dataDir ?? (await makeDataDir({ ...process.env, ...env }));
  let log = '';
  let child: ChildProcess | null = null;
  const service = {
    url: '',
    apiKey: '',
    dataDir: directory,
    pid: 0,
    log: () => log,
    async changeStore(sql: string) {
      const database = new DatabaseSync(join(directory, 'sandhaven.db'), { timeout: 5_000 });
      database.exec(sql);
      database.close();
    },
    async storeText() {
      const files = globSync(join(directory, 'sandhaven.db*'));
      return files.map((file) => readFileSync(file, 'latin1')).join('');
    },
    async terminate() {
      return end('SIGTERM');
    },
    async kill() {
      await end('SIGKILL');
    },
    async restart() {
      await end('SIGTERM');
      await launch();
    },
    async stop() {
      await end('SIGTERM');
      if (!existsSync(directory)) return;
      await purgeDataDir(directory, env);
      await rm(directory, { recursive: true, force: true });
      const faults = errorsIn(log, provokes);
      if (faults.length > 0) throw new Error(`errors in the log that nobody provokes:\n${faults.join('\n')}`);
    },
  };

  async function launch(): Promise<void> {
    const free = ['--listen', '127.0.0.1:0', ...(standardGateways ? [] : freeGateways)];
    const args = ['up', ...free, '--data-dir', directory, '--warm-pool', '0', ...flags];
    const started = spawn(program, args, {
      env: { ...process.env, ...ofTestedRuntime(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: ownSession,
    });
    child = started;
    service.pid = started.pid ?? 0;
    started.stderr?.on('data', (chunk) => {
      log += chunk;
    });
    service.url = await readyUrl(started, () => log);
    service.apiKey = env['SANDBOX_API_KEY'] ?? (await readFile(join(directory, 'api-key'), 'utf8')).trim();
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    const ending = child;
    child = null;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return ending?.exitCode ?? null;
    return endProcess(ending, signal, () => log);
  }

  await launch().catch(async (error: unknown) => {
    if (dataDir === undefined)
      await service.stop().catch(() => rm(directory, { recursive: true, force: true }));
    throw error;
  });
  return service;
}

/**
 * Makes a data directory that has the base image already, as a link to the cache's: a service would link its 23,000 files one by
 * one, and to remove them again takes the disk three seconds.
 */
export async function makeDataDir(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'sandhaven-test-'));
  const cache = join(defaultCacheDir(env), 'base');
  const key = await readlink(join(cache, 'current')).catch(() => null);
  if (key === null) return directory;
  const { digest } = JSON.parse(await readFile(join(cache, key, 'image.json'), 'utf8')) as { digest: string };
  await mkdir(join(directory, 'images'), { mode: 0o700 });
  await symlink(join(cache, key), join(directory, 'images', digest));
  return directory;
}

/** As `sandhaven purge` does, in this process: hundreds of services would each wait for a program that loads. */
async function purgeDataDir(directory: string, env: Record<string, string>): Promise<void> {
  if (Object.keys(env).some((name) => name !== 'SANDBOX_API_KEY')) return purgeByProgram(directory, env);
  const [{ purge }, { parseUpOptions }] = await Promise.all([
    import('../../src/app/purge.ts'),
    import('../../src/app/options/up-options.ts'),
  ]);
  const { store, archives } = parseUpOptions([], process.env);
  const silent = { info() {}, warn() {}, error() {} };
  await purge({ dataDir: directory, store, archives, clock: Date, log: silent });
}

function purgeByProgram(directory: string, env: Record<string, string>): void {
  const purged = spawnSync(bin, ['purge', '--data-dir', directory, '--yes'], {
    ...{ encoding: 'utf8', timeout: PURGE_TIMEOUT_MS },
    env: { ...process.env, ...env },
  });
  if (purged.status !== 0) throw new Error(`purge failed: ${purged.stderr}`);
}

/** Returns the lines of level error in a log as JSON, but those with these messages. */
export function errorsIn(log: string, provoked: readonly string[]): string[] {
  return log.split('\n').filter((line) => {
    if (!line.includes('"level":"error"')) return false;
    const { level, message } = JSON.parse(line) as { level: string; message: string };
    return level === 'error' && !provoked.includes(message);
  });
}

/** SANDHAVEN_TEST_RUNTIME, runc or direct, names what starts the machines of all tests; otherwise the service chooses. */
function ofTestedRuntime(): Record<string, string> {
  const runtime = process.env['SANDHAVEN_TEST_RUNTIME'];
  return runtime === undefined ? {} : { SANDHAVEN_MACHINE_RUNTIME: runtime };
}

/** Resolves with the exit status. Rejects, with what the process has said, when it has to be killed. */
export async function endProcess(
  child: ChildProcess,
  signal: NodeJS.Signals,
  said: () => string,
): Promise<number | null> {
  let hung = false;
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill(signal);
  const timer = setTimeout(() => {
    hung = child.kill('SIGKILL');
  }, STOP_TIMEOUT_MS);
  const code = await exited;
  clearTimeout(timer);
  if (hung) throw new Error(`the process did not end in time:\n${said()}`);
  return code;
}

function readyUrl(child: ChildProcess, log: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      child.kill('SIGTERM');
      reject(new Error(`the service ${why}:\n${log()}`));
    };
    const timer = setTimeout(() => fail('was not ready in time'), READY_TIMEOUT_MS);
    child.once('exit', (code) => fail(`ended with ${code}`));
    if (!child.stdout) return fail('has no standard output');
    createInterface({ input: child.stdout }).on('line', (line) => {
      const url = /^ready (https?:\S+)/.exec(line)?.[1];
      if (!url) return;
      clearTimeout(timer);
      child.removeAllListeners('exit');
      resolve(url);
    });
  });
}

export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** Where the toolkit is left out it is that of sandboxes. */
export function wholeName(tool: string): string {
  return tool.includes('.') ? tool : `Sandbox.${tool}`;
}

/** One tool call over HTTP. */
export function call(
  service: Pick<Service, 'url' | 'apiKey'>,
  tool: string,
  parameters: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  return post(service, `/v1/tools/${wholeName(tool)}`, parameters, headers);
}

export async function post(
  service: Pick<Service, 'url' | 'apiKey'>,
  path: string,
  parameters: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(parameters),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** As `call`, and fails when the answer is an error. */
export async function must(
  service: Pick<Service, 'url' | 'apiKey'>,
  tool: string,
  parameters: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const { status, body } = await call(service, tool, parameters);
  if (status !== 200) throw new Error(`${tool}: ${JSON.stringify(body)}`);
  return body;
}
