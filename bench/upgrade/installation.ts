/** One data directory and address, served by the checkout of one version after the other. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { manage } from '../../test/support/service-manager/manager.ts';
import { run } from '../base/command.ts';

export interface Installation extends AsyncDisposable {
  url: string;
  apiKey: string;
  /** Of the service. */
  log(): string;
  /**
   * Stops the service by SIGTERM, and starts another checkout once its process has ended.
   * @returns milliseconds of performance.now().
   */
  replaceBy(checkout: string): Promise<Replacement>;
}

export interface Replacement {
  terminated: number;
  /** End of the older process. */
  ended: number;
  /** The newer one's own word. */
  ready: number;
}

const READY_TIMEOUT_MS = 120_000;

/** A service as a process of its own, or under a manager that keeps its sockets. */
interface Runs {
  start(): Promise<void>;
  /** Resolves with the end of the process; does nothing without one. */
  stop(): Promise<void>;
  log(): string;
}

export async function install(checkout: string, keepsSockets: boolean): Promise<Installation> {
  // Not /tmp, which is memory on some machines.
  const folder = await mkdtemp('/var/tmp/sandhaven-bench-');
  const dataDir = join(folder, 'data');
  const port = await freePort();
  const flags = ['--listen', `127.0.0.1:${port}`, '--data-dir', dataDir, '--warm-pool', '0'];
  const gateways = ['--preview-listen', '127.0.0.1:0', '--ssh-listen', '127.0.0.1:0'];
  let newest = checkout;
  // A shell finds the program anew at each start, as a unit of systemd does.
  const program = join(folder, 'program');
  const choose = (of: string) => writeFile(program, join(of, 'bin/sandhaven'));
  await choose(checkout);
  const args = ['-c', `exec "$(cat ${program})" "$@"`, 'sh', 'up', ...flags, ...gateways];
  const service = keepsSockets ? await underManager(args) : alone(args);

  async function remove(): Promise<void> {
    await service.stop();
    await service[Symbol.asyncDispose]?.();
    await run(join(newest, 'bin/sandhaven'), ['purge', '--data-dir', dataDir, '--yes']);
    await rm(folder, { recursive: true, force: true });
  }

  await service.start().catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  return {
    url: `http://127.0.0.1:${port}`,
    apiKey: (await readFile(join(dataDir, 'api-key'), 'utf8')).trim(),
    log: service.log,
    async replaceBy(next) {
      const terminated = performance.now();
      await service.stop();
      const ended = performance.now();
      newest = next;
      await choose(next);
      await service.start();
      return { terminated, ended, ready: performance.now() };
    },
    [Symbol.asyncDispose]: remove,
  };
}

function alone(args: readonly string[]): Runs & Partial<AsyncDisposable> {
  let log = '';
  let service: ChildProcess | null = null;
  return {
    async start() {
      const started = spawn('/bin/sh', args, { stdio: ['ignore', 'pipe', 'pipe'] });
      service = started;
      started.stderr.on('data', (text) => {
        log += text;
      });
      await ready(started, () => log);
    },
    async stop() {
      const ending = service;
      service = null;
      if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
      const ended = new Promise((resolve) => ending.once('exit', resolve));
      ending.kill('SIGTERM');
      await ended;
    },
    log: () => log,
  };
}

async function underManager(args: readonly string[]): Promise<Runs & Partial<AsyncDisposable>> {
  const managed = await manage('/bin/sh', args);
  let runs = false;
  return {
    async start() {
      await managed.start();
      runs = true;
    },
    async stop() {
      if (runs) await managed.stop();
      runs = false;
    },
    log: managed.log,
    [Symbol.asyncDispose]: () => managed[Symbol.asyncDispose](),
  };
}

/** Free now: the service has to have the same address twice, so it cannot choose one itself. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}

function ready(service: ChildProcess, log: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(`the service ${reason}:\n${log()}`));
    const timer = setTimeout(() => fail('was not ready in time'), READY_TIMEOUT_MS);
    service.once('exit', (code) => {
      clearTimeout(timer);
      fail(`ended with ${code}`);
    });
    if (!service.stdout) return fail('has no standard output');
    createInterface({ input: service.stdout }).on('line', (line) => {
      if (!line.startsWith('ready ')) return;
      clearTimeout(timer);
      resolve();
    });
  });
}
