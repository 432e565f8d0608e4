/** `sandhaven up --runtime kubernetes`, without any right on its own machine, over HTTP. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bin, freeAddresses } from '../../support/service.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import { forwardTo, hostAddress, pushAgent, pushBase } from './host.ts';

const NO_RIGHTS = ['setpriv', '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'];

let cluster: Cluster;
let mirror: Server;
let child: ChildProcess | null = null;
let argv: string[] = [];
let url = '';
let log = '';
const dataDir = mkdtempSync(join(tmpdir(), 'sandhaven-kubernetes-'));

beforeAll(async () => {
  cluster = await startCluster({ nodes: 2 });
  const baseImage = pushBase(cluster.registry);
  mirror = await forwardTo(cluster.registry);
  const { port } = mirror.address() as AddressInfo;
  argv = [
    ...[...NO_RIGHTS, bin, 'up', ...freeAddresses, '--data-dir', dataDir, '--warm-pool', '0'],
    ...['--runtime', 'kubernetes', '--kubeconfig', cluster.kubeconfig, '--namespace', 'default'],
    ...['--agent-image', pushAgent(cluster.registry), '--base-image', baseImage],
    ...['--agent-clients', `${hostAddress(cluster)}/32`],
    // The service speaks plain HTTP with registries on its own machine alone.
    ...['--registry-mirror', `${cluster.registry}=127.0.0.1:${port}`],
  ];
  await launch();
}, 200_000);
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.info(log.slice(-4_000));
});
afterAll(async () => {
  await terminate();
  mirror?.close();
  await cluster?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('a service on Kubernetes', { timeout: 180_000 }, () => {
  it('serves sandboxes over HTTP', async () => {
    const size = { cpu: 1, memory_gb: 1, disk_gb: 1 };
    const { id: sandbox } = await ok('CreateSandbox', { name: 'first', ...size });
    expect(await ok('RunCommand', { sandbox, command: 'id -u; pwd' })).toMatchObject({
      stdout: '0\n/workspace\n',
      exit_code: 0,
    });
    expect(await ok('RunCode', { sandbox, code: 'print(6 * 7)' })).toMatchObject({ stdout: '42\n' });
    await ok('WriteFile', { sandbox, path: `/workspace/kept.txt`, content: 'kept' });
    expect(await ok('ReadFile', { sandbox, path: `/workspace/kept.txt` })).toMatchObject({ content: 'kept' });
    await ok('ResizeSandbox', { sandbox, memory_gb: 2 });
    expect(await ok('StopSandbox', { sandbox })).toMatchObject({ state: 'stopped' });
    expect(await call('ArchiveSandbox', { sandbox })).toMatchObject({ code: 'failed_precondition' });
    expect(await ok('GetSandbox', { sandbox })).toMatchObject({ state: 'stopped' });
    await terminate();
    await launch();
    await ok('StartSandbox', { sandbox });
    expect(await ok('RunCommand', { sandbox, command: 'echo "$HOME"' })).toMatchObject({ stdout: '/root\n' });
    // What it knew of the image came from the cluster.
    expect(log).not.toContain('image looked up');
    expect(await ok('ReadFile', { sandbox, path: `/workspace/kept.txt` })).toMatchObject({ content: 'kept' });
    await ok('DeleteSandbox', { sandbox });
    const lists = ['pods', 'persistentvolumeclaims', 'secrets'].map((kind) =>
      cluster.api.get(`/api/v1/namespaces/default/${kind}`),
    );
    expect((await Promise.all(lists)).flatMap(({ items }) => items)).toEqual([]);
  });
});

async function launch(): Promise<void> {
  const [program = '', ...args] = argv;
  log = '';
  child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr?.on('data', (chunk) => {
    log += chunk;
  });
  url = await ready(child);
}

/** Sandboxes go on. */
async function terminate(): Promise<void> {
  const ending = child;
  child = null;
  if (!ending || ending.exitCode !== null) return;
  ending.kill('SIGTERM');
  await once(ending, 'exit');
}

async function call(tool: string, parameters: object): Promise<Record<string, unknown>> {
  const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim();
  const answer = await fetch(`${url}/v1/tools/Sandbox.${tool}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  return (await answer.json()) as Record<string, unknown>;
}

async function ok(tool: string, parameters: object): Promise<Record<string, unknown>> {
  const body = await call(tool, parameters);
  if ('code' in body) throw new Error(`${tool}: ${JSON.stringify(body)}`);
  return body;
}

function ready(started: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    started.once('exit', (status) => reject(new Error(`the service ended with ${status}:\n${log}`)));
    if (!started.stdout) throw new Error('no standard output');
    createInterface({ input: started.stdout }).on('line', (line) => {
      const found = /^ready (http:\S+)/.exec(line)?.[1];
      if (found) resolve(found);
    });
  });
}
