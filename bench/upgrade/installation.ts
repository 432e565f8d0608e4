/** One data directory and address, served by the checkout of one version after the other. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { run } from '../command.ts';

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

export async function install(checkout: string): Promise<Installation> {
  // Not /tmp, which is memory on some machines.
  const folder = await mkdtemp('/var/tmp/sandhaven-bench-');
  const dataDir = join(folder, 'data');
  const port = await freePort();
  const flags = ['--listen', `127.0.0.1:${port}`, '--data-dir', dataDir, '--warm-pool', '0'];
  const gateways = ['--preview-listen', '127.0.0.1:0', '--ssh-listen', '127.0.0.1:0'];
  let log = '';
  let service: ChildProcess;
  let newest = checkout;

  async function start(): Promise<void> {
    const program = join(newest, 'bin/sandhaven');
    service = spawn(program, ['up', ...flags, ...gateways], { stdio: ['ignore', 'pipe', 'pipe'] });
    service.stderr?.on('data', (text) => {
      log += text;
    });
    await ready(service, () => log);
  }

  async function end(): Promise<void> {
    if (service.exitCode !== null || service.signalCode !== null) return;
    const ended = new Promise((resolve) => service.once('exit', resolve));
    service.kill('SIGTERM');
    await ended;
  }

  async function remove(): Promise<void> {
    await end();
    await run(join(newest, 'bin/sandhaven'), ['purge', '--data-dir', dataDir, '--yes']);
    await rm(folder, { recursive: true, force: true });
  }

  await start().catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  return {
    url: `http://127.0.0.1:${port}`,
    apiKey: (await readFile(join(dataDir, 'api-key'), 'utf8')).trim(),
    log: () => log,
    async replaceBy(next) {
      const terminated = performance.now();
      await end();
      const ended = performance.now();
      newest = next;
      await start();
      return { terminated, ended, ready: performance.now() };
    },
    [Symbol.asyncDispose]: remove,
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
