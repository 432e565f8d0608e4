/** Replicas of one service on a test cluster: processes of `sandhaven up` with one PostgreSQL store and one key. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bin, freeAddresses } from '../../support/service.ts';

export interface Installation {
  /** Holds a data directory for each replica. */
  folder: string;
  /** Of `sandhaven up`, without the data directory. */
  argv: string[];
  apiKey: string;
  /** Of the processes, beside this one's. */
  env?: Record<string, string>;
}

export interface ReplicaProcess {
  name: string;
  url: string;
  host: string;
  port: number;
  /** Ports of its gateways, on the same host. */
  previews: number;
  ssh: number;
  pid: number;
  log(): string;
  /** Kills it where it stands. */
  kill(): Promise<void>;
  /** As a rolling update does. Resolves with the exit status. */
  terminate(): Promise<number | null>;
  suspend(): void;
  resume(): void;
}

/** Starts one more replica; the first one's key is all that the others need. */
export async function startReplica(
  { folder, argv, apiKey, env: more = {} }: Installation,
  name: string,
): Promise<ReplicaProcess> {
  const dataDir = join(folder, name);
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { mode: 0o700 });
  const key = join(folder, 'secret.key');
  copyFileSync(key, join(dataDir, 'secret.key'));
  const env = { ...process.env, SANDBOX_API_KEY: apiKey, ...more };
  const child = spawn(bin, ['up', ...freeAddresses, '--data-dir', dataDir, ...argv], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr?.on('data', (chunk) => {
    log += chunk;
  });
  const url = await ready(child, () => log);
  const ended = once(child, 'exit');
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await ended;
    }
    return child.exitCode;
  };
  const { hostname, port } = new URL(url);
  return {
    ...{ name, url, host: hostname, port: Number(port), pid: child.pid ?? 0 },
    ...gatewaysIn(log),
    log: () => log,
    kill: async () => void (await end('SIGKILL')),
    terminate: () => end('SIGTERM'),
    suspend: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
}

/** Writes the key that all replicas share, and that names the installation. */
export function writeKey(folder: string, key = Buffer.alloc(32, 7)): void {
  writeFileSync(join(folder, 'secret.key'), key, { mode: 0o600 });
}

/** The log names them before the service is ready. */
function gatewaysIn(log: string): { previews: number; ssh: number } {
  const line = log.split('\n').find((text) => text.includes('"message":"listening"')) ?? '{}';
  const { previews = '', ssh = '' } = JSON.parse(line) as Record<string, string>;
  const portOf = (address: string) => Number(address.split(':').at(-1));
  return { previews: portOf(previews), ssh: portOf(ssh) };
}

function ready(started: ChildProcess, log: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    started.once('exit', (status) => reject(new Error(`the service ended with ${status}:\n${log()}`)));
    if (!started.stdout) throw new Error('no standard output');
    createInterface({ input: started.stdout }).on('line', (line) => {
      const found = /^ready (http:\S+)/.exec(line)?.[1];
      if (found) resolve(found);
    });
  });
}
