/** A real S3 server in a process of its own: versitygw over a folder that is removed at the end. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Options } from '../../src/model/archive-options.ts';
import { createS3Client, type S3Client } from '../../src/runtime/archives/s3/client.ts';
import { createExchange } from '../../src/runtime/archives/s3/exchange.ts';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';

const READY_TIMEOUT_MS = 20_000;

export const credentials = { accessKeyId: 'tester', secretAccessKey: 'canary-secret-5e1f' };

const store = join(defaultCacheDir(), 'versitygw');
export interface S3Server {
  options: S3Options & { credentials: typeof credentials };
  client: S3Client;
  makeBucket(name: string): Promise<void>;
  /** Keys of the finished objects. */
  keys(bucket: string): string[];
  /** Folder of the objects of a bucket, by their keys. */
  folder(bucket: string): string;
  /** Changes one byte in the middle of an object, behind the server's back. */
  damage(bucket: string, key: string): void;
  /** Makes all finished objects older, behind the server's back. */
  age(bucket: string, hours: number): void;
  /** Ends the process; what it keeps stays. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export async function startS3Server(): Promise<S3Server> {
  const root = mkdtempSync(join(tmpdir(), 'sandhaven-s3-'));
  const [data, sidecar] = [join(root, 'data'), join(root, 'sidecar')];
  mkdirSync(data);
  mkdirSync(sidecar);
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const options = { endpoint, region: 'us-east-1', pathStyle: true, credentials };
  const exchange = createExchange(options, credentials);
  let child: ChildProcess | null = null;

  async function resume(): Promise<void> {
    // A second one would end at once, for the want of its port, and stand for the first from then on.
    if (child?.exitCode === null && child.signalCode === null) return;
    const started = spawn(
      programPath(),
      ['--keep-alive', '--port', `127.0.0.1:${port}`, 'posix', '--sidecar', sidecar, data],
      {
        env: {
          PATH: process.env['PATH'],
          ROOT_ACCESS_KEY: credentials.accessKeyId,
          ROOT_SECRET_KEY: credentials.secretAccessKey,
          ROOT_ACCESS_KEY_ID: credentials.accessKeyId,
          ROOT_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    child = started;
    let said = '';
    started.stderr?.on('data', (text) => {
      said = (said + text).slice(-4_000);
    });
    const deadline = Date.now() + READY_TIMEOUT_MS;
    while (!(await answers(endpoint))) {
      if (started.exitCode !== null || Date.now() > deadline)
        throw new Error(`versitygw did not start: ${said}`);
      await sleep(50);
    }
  }

  async function pause(): Promise<void> {
    const ending = child;
    child = null;
    if (!ending || ending.exitCode !== null) return;
    const exited = new Promise((resolve) => ending.once('exit', resolve));
    ending.kill('SIGKILL');
    await exited;
  }

  async function stop(): Promise<void> {
    exchange.close();
    await pause();
    rmSync(root, { recursive: true, force: true });
  }

  const keysOf = (bucket: string) => filesBelow(join(data, bucket)).filter((name) => !name.startsWith('.'));

  await resume().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    options,
    client: createS3Client(exchange),
    async makeBucket(name) {
      (await exchange.send({ method: 'PUT', bucket: name, timeoutMs: 10_000 })).resume();
    },
    keys: keysOf,
    folder: (bucket) => join(data, bucket),
    damage(bucket, key) {
      const path = join(data, bucket, key);
      const bytes = readFileSync(path);
      const middle = Math.floor(bytes.length / 2);
      bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
      writeFileSync(path, bytes);
    },
    age(bucket, hours) {
      const at = Date.now() / 1_000 - hours * 3_600;
      for (const key of keysOf(bucket)) utimesSync(join(data, bucket, key), at, at);
    },
    pause,
    resume,
    stop,
  };
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

function programPath(): string {
  const versions = existsSync(store) ? readdirSync(store) : [];
  const found = versions.map((version) => join(store, version, 'versitygw')).find((path) => existsSync(path));
  if (found === undefined) throw new Error('the S3 server is missing: run make s3-server');
  return found;
}
