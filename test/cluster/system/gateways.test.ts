/**
 * Gateways of two replicas: each one serves what is in a sandbox that the other has started, and goes on alone when the
 * other is killed.
 */
import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTunnel } from '../../../src/surfaces/cli/tunnel-client.ts';
import { accessTo, SshClient } from '../../gateways/ssh/client.ts';
import { dial, visit } from '../../gateways/visitor.ts';
import { type ClusterService, startClusterService } from '../../support/cluster-engine/service.ts';
import { type GitServer, startGitServer } from '../../support/git-server.ts';
import { must } from '../../support/service.ts';
import type { ReplicaProcess } from '../kubernetes/replica.ts';

/** Of the application that `test/gateways` is tested with. */
const APP_PORT = 3000;
const user = { username: 'ada', password: 'canary-8d3f' };
const author = { author_name: 'Ada', author_email: 'ada@example.org' };

let service: ClusterService;
let one: ReplicaProcess;
let two: ReplicaProcess;
let remote: GitServer;
let sandbox: string;

beforeAll(async () => {
  remote = await startGitServer(user);
  service = await startClusterService();
  [one, two] = service.replicas() as [ReplicaProcess, ReplicaProcess];
  const created = await must(by(one), 'CreateSandbox', { cpu: 1, memory_gb: 1, disk_gb: 1 });
  sandbox = String(created['id']);
  const content = await readFile(new URL('../../gateways/sample-app.mjs', import.meta.url), 'utf8');
  await must(by(one), 'WriteFile', { path: 'app.mjs', content });
  const command = 'nohup node app.mjs > log 2>&1 & until grep -q serving log; do sleep 0.05; done';
  await must(by(one), 'RunCommand', { command });
}, 180_000);

afterAll(async () => {
  await service?.stop();
  await remote?.close();
});

const by = ({ url }: ReplicaProcess) => ({ url, apiKey: service.apiKey });

describe.each([
  ['the replica that started the sandbox', () => one, () => two],
  ['the other one', () => two, () => one],
])('through %s', (_which, replica, other) => {
  it('previews carry requests and upgraded connections', () => previews(replica()));
  it('SSH runs programs, under the one host key', () => ssh(replica()));
  it('tunnels carry bytes', () => tunnel(replica()));
  it('Git reaches a remote with credentials that the other was given', () => git(other(), replica()));
});

describe('a token that one replica has given', () => {
  it('opens a preview at both, and none once the other has revoked it', async () => {
    const { url } = await must(by(one), 'GetPortPreviewUrl', { sandbox, port: APP_PORT, signed: true });
    for (const replica of [one, two]) expect(await statusAt(replica, String(url))).toBe(200);
    const answer = await fetch(`${two.url}/v1/admin/RevokeAccess`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ sandbox }),
    });
    expect(answer.status).toBe(200);
    for (const replica of [one, two]) expect(await statusAt(replica, String(url))).toBe(401);
  });
});

describe('when the replica that started the sandbox is killed', () => {
  it('what is open at the other one stays open', async () => {
    const connection = await tunnelTo(two);
    await one.kill();
    connection.write('GET /echo HTTP/1.0\r\n\r\n');
    expect(await text(connection)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('previews, SSH, tunnels and Git go on at the other one', async () => {
    await previews(two);
    await ssh(two);
    await tunnel(two);
    await git(two, two);
  });

  it('and at their public addresses', async () => {
    // In turn, so two answers show that the front has left the killed one out.
    const answered = async () => [await must(service, 'WhoAmI'), await must(service, 'WhoAmI')].length;
    await expect.poll(() => answered().catch(() => 0), { timeout: 10_000 }).toBe(2);
    const { url } = await must(service, 'GetPortPreviewUrl', { sandbox, port: APP_PORT, signed: true });
    expect((await visit(`${url}status?code=200`)).status).toBe(200);
    using client = new SshClient();
    expect(await client.ssh(await accessTo(service, sandbox), ['true'])).toMatchObject({ code: 0 });
  });
});

async function previews(replica: ReplicaProcess): Promise<void> {
  const { url, token } = await must(by(replica), 'GetPortPreviewUrl', { sandbox, port: APP_PORT });
  const headers = { 'x-sandbox-preview-token': String(token) };
  const echo = { method: 'POST', headers, body: 'said' };
  expect(await visit(`${at(replica, String(url))}echo`, echo)).toMatchObject({ status: 200, text: 'said' });
  const host = new URL(String(url)).host;
  const head = `GET / HTTP/1.1\r\nHost: ${host}\r\nx-sandbox-preview-token: ${token}`;
  const socket = dial(at(replica, String(url)), `${head}\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n`);
  let said = '';
  socket.on('data', (bytes: Buffer) => {
    said += bytes;
  });
  await expect.poll(() => said).toMatch(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\nwelcome;$/);
  socket.write('loud');
  await expect.poll(() => said).toMatch(/welcome;LOUD$/);
  socket.destroy();
}

async function ssh(replica: ReplicaProcess): Promise<void> {
  using client = new SshClient();
  const access = await accessTo({ ...service, ...by(replica) }, sandbox);
  // The public address leads to a front; the key of the host is the same behind it.
  const ran = await client.ssh({ ...access, port: replica.ssh }, ['echo in; cat'], { input: 'through' });
  expect({ code: ran.code, said: ran.stdout.toString() }).toEqual({ code: 0, said: 'in\nthrough' });
}

async function tunnel(replica: ReplicaProcess): Promise<void> {
  const connection = await tunnelTo(replica);
  connection.write('GET /status?code=200 HTTP/1.0\r\n\r\n');
  expect(await text(connection)).toMatch(/^HTTP\/1\.1 200 As It Was/);
}

async function tunnelTo(replica: ReplicaProcess): Promise<Duplex> {
  const target = { sandbox, port: APP_PORT };
  const { connection, problem } = await openTunnel(by(replica), target, AbortSignal.timeout(10_000));
  if (!connection) throw new Error(JSON.stringify(problem));
  return connection;
}

/** Clones by one replica; commits, pushes and pulls by another. */
async function git(first: ReplicaProcess, second: ReplicaProcess): Promise<void> {
  const name = `${first.name}-${second.name}`;
  const url = remote.create(name, { 'a.txt': 'one\n' });
  await must(by(first), 'GitClone', { sandbox, url, path: name, ...user });
  await must(by(second), 'WriteFile', { sandbox, path: `${name}/b.txt`, content: 'two\n' });
  const at = { sandbox, path: name };
  await must(by(first), 'GitAdd', { ...at, files: ['.'] });
  const { sha } = await must(by(second), 'GitCommit', { ...at, message: 'two', ...author });
  expect(await must(by(second), 'GitPush', at)).toMatchObject({ pushed: true });
  expect(remote.git(name, 'rev-parse', 'main').trim()).toBe(sha);
  const next = remote.commit(name, { 'c.txt': 'three\n' });
  expect(await must(by(second), 'GitPull', at)).toMatchObject({ updated: true, sha: next });
}

/** The same preview, at this replica's own gateway. */
function at(replica: ReplicaProcess, url: string): string {
  const own = new URL(url);
  own.port = String(replica.previews);
  return own.href;
}

async function statusAt(replica: ReplicaProcess, url: string): Promise<number> {
  return (await visit(`${at(replica, url)}status?code=200`)).status;
}
