/** Debian's registry on the machine's loopback address, and images made for it of hand-written layers. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
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

const READY_TRIES = 100;

export interface Account {
  username: string;
  password: string;
}

/** @param account Who alone is let in; without it, everybody. */
export async function startRegistry(account?: Account): Promise<Registry> {
  const root = await mkdtemp(join(tmpdir(), 'sandhaven-registry-'));
  const address = `127.0.0.1:${await freePort()}`;
  const config = join(root, 'config.yml');
  const storage = join(root, 'storage');
  writeFileSync(
    config,
    `version: 0.1\nstorage: {filesystem: {rootdirectory: ${storage}}}\nhttp: {addr: '${address}'}\n`,
  );
  if (account) {
    const accounts = join(root, 'htpasswd');
    writeFileSync(accounts, htpasswd(account.username, account.password));
    appendFileSync(config, `auth: {htpasswd: {realm: test, path: ${accounts}}}\n`);
  }
  let child: ChildProcess | null = null;
  let built = 0;
  const registry: Registry = {
    address,
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
      child = spawn('docker-registry', ['serve', config], { stdio: 'ignore' });
      for (let tries = 0; !(await answers(address)); tries++) {
        if (tries === READY_TRIES) throw new Error('docker-registry does not start');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
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

async function answers(address: string): Promise<boolean> {
  return fetch(`http://${address}/v2/`).then(
    (response) => response.ok || response.status === 401,
    () => false,
  );
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
