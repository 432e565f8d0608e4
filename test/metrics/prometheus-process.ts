/** A real Prometheus in a process of its own, with a folder that is removed at the end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { prometheusProgram } from '../../setup/debian/prometheus-program.ts';

export const deploy = join(import.meta.dirname, '../../deploy/prometheus');

export interface Prometheus {
  /** The file that it reads: the example of `deploy/`, for another target. */
  configFile: string;
  /** Returns the values of an instant query; rejects with the message of a query that is wrong. */
  query(expression: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]>;
  /** GET of its API. */
  get<T>(path: string): Promise<T>;
  stop(): Promise<void>;
}

/** @param target Host and port of the service, with the key that Prometheus sends. */
export async function startPrometheus(target: string, key: string): Promise<Prometheus> {
  if (!existsSync(prometheusProgram))
    throw new Error(`${prometheusProgram} is missing: run \`make prometheus\``);
  const folder = await mkdtemp(join(tmpdir(), 'sandhaven-prometheus-'));
  const configFile = await configure(folder, target, key);
  const address = `127.0.0.1:${await freePort()}`;
  const flags = [
    `--config.file=${configFile}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
  ];
  const child = spawn(prometheusProgram, flags, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const get = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`http://${address}/api/v1/${path}`).catch(() => {
      throw new Error(`Prometheus does not answer:\n${log}`);
    });
    const body = (await answer.json()) as { data: T; error?: string };
    if (body.error) throw new Error(body.error);
    return body.data;
  };
  return {
    configFile,
    get,
    async query(expression) {
      const path = `query?query=${encodeURIComponent(expression)}`;
      return (await get<{ result: Awaited<ReturnType<Prometheus['query']>> }>(path)).result;
    },
    async stop() {
      await end(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function configure(folder: string, target: string, key: string): Promise<string> {
  const keyFile = join(folder, 'key');
  await writeFile(keyFile, key, { mode: 0o600 });
  const config = parseDocument(await readFile(join(deploy, 'prometheus.yml'), 'utf8'));
  config.setIn(['global', 'scrape_interval'], '1s');
  config.setIn(['global', 'evaluation_interval'], '1s');
  config.setIn(['scrape_configs', 0, 'authorization', 'credentials_file'], keyFile);
  config.setIn(['scrape_configs', 0, 'static_configs', 0, 'targets', 0], target);
  const file = join(folder, 'prometheus.yml');
  await writeFile(file, config.toString());
  await copyFile(join(deploy, 'rules.yml'), join(folder, 'rules.yml'));
  return file;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
