/** Debian's registry on the machine's loopback address, and images made for it of hand-written layers. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { htpasswd } from './accounts.ts';

export interface Registry {
  /** host:port */
  address: string;
  /** Pushes an image with these layers, each a folder's contents in a tar. */
  push(name: string, image: TestImage): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

export interface TestImage {
  /** Fills one folder a layer; `.wh.<name>` removes what a lower layer has. */
  layers: ((folder: string) => void)[];
  /** Arguments of `umoci config`. */
  config?: string[];
  /** What to do with the layout before it is pushed. */
  rewrite?: (layout: string) => void;
}

/** Characters of what a registry says as it starts. */
const MOST_SAID = 100_000;

export interface Account {
  username: string;
  password: string;
}

/** @param account Who alone is let in; without it, everybody. */
export async function startRegistry(account?: Account): Promise<Registry> {
  const root = await mkdtemp(join(tmpdir(), 'sandhaven-registry-'));
  const config = join(root, 'config.yml');
  const accounts = join(root, 'htpasswd');
  if (account) writeFileSync(accounts, htpasswd(account.username, account.password));
  const auth = account ? `auth: {htpasswd: {realm: test, path: ${accounts}}}\n` : '';
  const storage = `storage: {filesystem: {rootdirectory: ${join(root, 'storage')}}}\n`;
  /** The registry chooses the port: another program could take one that is free now. A later start has the same. */
  let address = '127.0.0.1:0';
  let child: ChildProcess | null = null;
  let built = 0;
  const registry: Registry = {
    get address() {
      return address;
    },
    async push(name, image) {
      const layout = join(root, `layout-${++built}`);
      build(layout, image);
      run('skopeo', [
        'copy',
        '--quiet',
        '--dest-tls-verify=false',
        ...(account ? [`--dest-creds=${account.username}:${account.password}`] : []),
        `oci:${layout}:t`,
        `docker://${address}/${name}`,
      ]);
    },
    async start() {
      writeFileSync(config, `version: 0.1\n${storage}http: {addr: '${address}'}\n${auth}`);
      child = spawn('docker-registry', ['serve', config], { stdio: ['ignore', 'ignore', 'pipe'] });
      address = await addressOf(child);
    },
    async stop() {
      const ending = child;
      child = null;
      if (!ending || ending.exitCode !== null) return;
      const exited = new Promise((resolve) => ending.once('exit', resolve));
      ending.kill('SIGKILL');
      await exited;
    },
    async remove() {
      await registry.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
  await registry.start();
  return registry;
}

/** Writes a file and the folders on the way to it. */
export function put(folder: string, path: string, content = path, mode = 0o644): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, mode);
}

export function run(program: string, args: string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function build(layout: string, { layers, config = [], rewrite }: TestImage): void {
  const image = `${layout}:t`;
  run('umoci', ['init', '--layout', layout]);
  run('umoci', ['new', '--image', image]);
  layers.forEach((fill, index) => {
    const folder = `${layout}-layer-${index}`;
    mkdirSync(folder);
    fill(folder);
    const names = run('find', [folder, '-mindepth', '1', '-maxdepth', '1', '-printf', '%f\n'])
      .trim()
      .split('\n');
    run('tar', ['--xattrs', '--numeric-owner', '-C', folder, '-cf', `${folder}.tar`, ...names]);
    run('umoci', ['raw', 'add-layer', '--image', image, `${folder}.tar`]);
  });
  if (config.length > 0) run('umoci', ['config', '--image', image, ...config]);
  rewrite?.(layout);
}

/** Resolves with the address that a registry says it listens on. */
function addressOf({ stderr }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    stderr?.on('data', (chunk) => {
      if (said.length < MOST_SAID) said += chunk;
      const [, address] = /listening on (127\.0\.0\.1:\d+)/.exec(said) ?? [];
      if (address) resolve(address);
    });
    stderr?.once('close', () => reject(new Error(`docker-registry does not start: ${said}`)));
  });
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
