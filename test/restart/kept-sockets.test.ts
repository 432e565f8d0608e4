/** The service restarts under a manager that keeps its sockets: connections wait for it instead of being refused. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bin } from '../support/service.ts';
import { type Managed, manage } from '../support/service-manager/manager.ts';

let folder: string;
let ports: { api: number; previews: number; ssh: number };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandhaven-restart-'));
  const [api, previews, ssh] = await freePorts(3);
  ports = { api: api as number, previews: previews as number, ssh: ssh as number };
});

afterEach(async () => {
  spawnSync(bin, ['purge', '--data-dir', join(folder, 'data'), '--yes']);
  await rm(folder, { recursive: true, force: true });
});

describe('a restart', { timeout: 120_000 }, () => {
  it('lets calls wait that come while no service runs', async () => {
    await using managed = await manage(bin, flags());
    await managed.start();
    expect(await health()).toBe(200);
    expect(await managed.stop()).toBe(0);
    const waiting = [health(), health()];
    const [preview, ssh] = await Promise.all([connects(ports.previews), connects(ports.ssh)]);
    expect([preview, ssh]).toEqual([true, true]);
    await managed.start();
    expect(await Promise.all(waiting)).toEqual([200, 200]);
    // The third start has the sockets of the first.
    await managed.stop();
    const third = health();
    await managed.start();
    expect(await third).toBe(200);
  });

  it('gives a socket back that the configuration no longer has', async () => {
    await using managed = await manage('/bin/sh', [
      '-c',
      `read port < ${folder}/port; exec "$@" --listen 127.0.0.1:$port`,
      'sh',
      bin,
      ...flags(),
    ]);
    await listenAt(ports.api);
    await managed.start();
    const [other] = await freePorts(1);
    await managed.stop();
    await listenAt(other as number);
    await managed.start();
    await expect.poll(() => removed(managed)).toEqual([`listen-127.0.0.1%3A${ports.api}`]);
    await expect.poll(() => connects(ports.api)).toBe(false);
    expect(await connects(other as number)).toBe(true);
  });
});

const flags = () => [
  ...['up', '--data-dir', join(folder, 'data'), '--warm-pool', '0', '--listen', `127.0.0.1:${ports.api}`],
  ...['--preview-listen', `127.0.0.1:${ports.previews}`, '--ssh-listen', `127.0.0.1:${ports.ssh}`],
];

const listenAt = (port: number) => writeFile(join(folder, 'port'), `${port}\n`);

function removed({ said }: Managed): string[] {
  return said.flatMap((message) => /^FDSTOREREMOVE=1\nFDNAME=(.+)$/.exec(message)?.[1] ?? []);
}

async function health(): Promise<number> {
  const url = `http://127.0.0.1:${ports.api}/healthz`;
  return (await fetch(url, { headers: { connection: 'close' } })).status;
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** Ports that are free now, all different. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const found = servers.map(
    (server) =>
      new Promise<number>((resolve) => {
        server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
      }),
  );
  const numbers = await Promise.all(found);
  for (const server of servers) server.close();
  return numbers;
}
