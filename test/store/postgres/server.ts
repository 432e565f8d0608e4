/**
 * A real PostgreSQL server on a Unix socket and a loopback port, and empty databases in it. The kernel ends it with this
 * process, however that ends; the folder that then stays is removed by the next start.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { freePort } from '../../images/registry/registry.ts';

export interface PostgresServer {
  port: number;
  /** Creates an empty database. Returns its address. */
  database(): Promise<string>;
  /** Runs a statement as the server's owner. */
  query(url: string, sql: string): Promise<Record<string, unknown>[]>;
  /** Ends as a crash does: connections break off, and nothing is written any more. */
  kill(): Promise<void>;
  /** Starts again after `kill`, on the same port with the same data. */
  start(): Promise<void>;
  /** Names files of the server that hold the text. */
  filesWith(text: string): string;
  stop(): Promise<void>;
}

/** The server refuses to run as root. */
const OWNER = 'postgres';

/** Not below TMPDIR, which is in root's home. The number of the process that it belongs to follows. */
const FOLDERS = '/tmp/sandhaven-postgres-';

/** @param password Asked of every connection; none by default. */
export async function startPostgres({ password }: { password?: string } = {}): Promise<PostgresServer> {
  removeFoldersOfTheDead();
  const folder = mkdtempSync(`${FOLDERS}${process.pid}-`);
  try {
    return await startIn(folder, password);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function startIn(folder: string, password: string | undefined): Promise<PostgresServer> {
  const programs = globSync('/usr/lib/postgresql/*/bin').sort().at(-1);
  if (programs === undefined) throw new Error('PostgreSQL is missing: run setup/setup.sh --checks');
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, OWNER]))) as [
    number,
    number,
  ];
  chownSync(folder, uid, gid);
  const data = join(folder, 'data');
  const owner = { uid, gid, cwd: folder, env: { PATH: programs, LC_ALL: 'C.UTF-8' } };
  // Its own collation orders names as people do, which the store must not depend on.
  const locale = ['--locale-provider=icu', '--icu-locale=en', '--encoding=UTF8'];
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password ?? 'unused');
  const access = [`--auth=${password ? 'scram-sha-256' : 'trust'}`, `--pwfile=${passwordFile}`];
  execFileSync(join(programs, 'initdb'), ['--no-sync', ...access, ...locale, data], {
    ...owner,
    stdio: 'pipe',
  });
  const port = await freePort();
  let running = await launch(programs, { ...owner, data, folder, port });
  let made = 0;
  const query = async (url: string, sql: string) => {
    const client = new pg.Client({ ...parseIntoClientConfig(url), ...(password ? { password } : {}) });
    await client.connect();
    try {
      return (await client.query(sql)).rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  };
  const address = (name: string) => `postgres://${OWNER}@127.0.0.1:${port}/${name}`;
  return {
    port,
    query,
    async database() {
      const name = `store_${++made}`;
      await query(address('postgres'), `CREATE DATABASE ${name}`);
      return address(name);
    },
    kill: () => running.end('SIGQUIT'),
    async start() {
      running = await launch(programs, { ...owner, data, folder, port });
    },
    filesWith: (text) => spawnSync('grep', ['-rlaF', text, data], { encoding: 'utf8' }).stdout,
    async stop() {
      await running.end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function removeFoldersOfTheDead(): void {
  for (const folder of globSync(`${FOLDERS}*-*`)) {
    const owner = folder.slice(FOLDERS.length).split('-')[0];
    if (!existsSync(`/proc/${owner}`)) rmSync(folder, { recursive: true, force: true });
  }
}

interface LaunchOptions {
  uid: number;
  gid: number;
  cwd: string;
  env: Record<string, string>;
  data: string;
  folder: string;
  port: number;
}

async function launch(programs: string, { data, folder, port, uid, gid, ...others }: LaunchOptions) {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: folder,
    // The data are gone with the test.
    fsync: 'off',
    shared_buffers: '32MB',
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // An immediate shutdown, as `kill` does.
  const bound = ['--pdeathsig', 'QUIT', '--reuid', String(uid), '--regid', String(gid), '--clear-groups'];
  const child = spawn('/usr/bin/setpriv', [...bound, join(programs, 'postgres'), '-D', data, ...flags], {
    ...others,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said = (said + chunk).slice(-16_384);
      if (said.includes('ready to accept connections')) resolve();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('error', reject);
    void ended.then(() => reject(new Error(`PostgreSQL ended: ${said}`)));
  });
  return {
    async end(signal: 'SIGINT' | 'SIGQUIT') {
      child.kill(signal);
      await ended;
    },
  };
}
