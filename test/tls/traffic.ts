/** What a way to the service has to carry, whether it is the service's own TLS or a proxy before it. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'vitest';
import { askSecure, dialSecure, openSecure, rest, type Secure } from '../support/secure.ts';
import { must, type Service } from '../support/service.ts';

type Key = Pick<Service, 'apiKey'>;

/** A sandbox in which the sample application serves on port 3000. */
export async function serveSample(service: Pick<Service, 'url' | 'apiKey'>): Promise<string> {
  const { id } = await must(service, 'CreateSandbox', { cpu: 2, memory_gb: 2, disk_gb: 2 });
  const sandbox = String(id);
  const content = await readFile(new URL('../gateways/sample-app.mjs', import.meta.url), 'utf8');
  await must(service, 'WriteFile', { sandbox, path: 'app.mjs', content });
  const command = 'nohup node app.mjs > log 2>&1 & until grep -q serving log; do sleep 0.05; done';
  await must(service, 'RunCommand', { sandbox, command });
  return sandbox;
}

export async function carriesCalls(way: Secure, { apiKey }: Key): Promise<void> {
  const answer = await askSecure(way, '/v1/tools/Sandbox.WhoAmI', {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: '{}',
  });
  expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('admin') });
}

/** More than proxies take by default, and more than any of them, or a socket, holds in memory. */
export async function carriesLargeBodies(way: Secure, { apiKey }: Key, sandbox: string): Promise<void> {
  const path = `/v1/sandboxes/${sandbox}/files?path=large`;
  const headers = { authorization: `Bearer ${apiKey}` };
  const block = randomBytes(1 << 20);
  const blocks = Array<Buffer>(16).fill(block);
  const put = await askSecure(way, path, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/octet-stream' },
    body: Readable.from(blocks),
  });
  expect(put).toMatchObject({ status: 200, text: expect.stringContaining(String(16 << 20)) });
  const back = await buffer(await openSecure(way, path, { headers }));
  expect(sha256(back)).toBe(sha256(Buffer.concat(blocks)));
}

/** Each event as it comes: the first one is here before the command, which waits for it, has ended. */
export async function carriesMcpStreams(way: Secure, { apiKey }: Key, sandbox: string): Promise<void> {
  const headers = {
    ...{ authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
  };
  const command = 'until [ -e seen ]; do sleep 0.1; done; rm seen; echo went-on';
  const call = {
    name: 'Sandbox_RunCommand',
    arguments: { sandbox, command, timeout_seconds: 60 },
    _meta: { progressToken: 1 },
  };
  const answer = await openSecure(way, '/mcp', {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
  });
  expect(answer.headers['content-type']).toContain('text/event-stream');
  let said = '';
  answer.on('data', (text) => {
    said += text;
  });
  await expect.poll(() => said, { timeout: 30_000 }).toContain('notifications/progress');
  expect(said).not.toContain('went-on');
  const seen = await askSecure(way, `/v1/sandboxes/${sandbox}/files?path=seen`, {
    method: 'PUT',
    headers,
    body: '',
  });
  expect(seen.status).toBe(200);
  await once(answer, 'end');
  expect(said).toContain('went-on');
}

/** @param way To previews, by the preview's own host. */
export async function carriesPreviews(way: Secure, client: string): Promise<void> {
  const host = way.host ?? '';
  const { headers } = JSON.parse((await askSecure(way, '/headers')).text);
  const pairs = new Map<string, string>();
  for (let at = 0; at < headers.length; at += 2) pairs.set(headers[at].toLowerCase(), headers[at + 1]);
  expect(pairs.get('x-forwarded-proto')).toBe('https');
  expect(pairs.get('x-forwarded-for')).toBe(client);
  expect(pairs.get('x-forwarded-host')).toBe(pairs.get('host'));
  expect(pairs.get('host')?.split(':')[0]).toBe(host);

  const events = await openSecure(way, '/events');
  for (const text of ['one', 'two']) {
    const came = once(events, 'data');
    await askSecure(way, `/emit?text=${text}`);
    expect(String((await came)[0])).toContain(`data: ${text}\n\n`);
  }
  events.destroy();

  const upgrade = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n`;
  const { socket, first } = await dialSecure(way, upgrade);
  expect(first).toMatch(/^HTTP\/1\.1 101 /);
  socket.write('hello');
  let said = first;
  socket.on('data', (data) => {
    said += data;
  });
  await expect.poll(() => said).toContain('HELLO');
  const ended = rest(socket);
  socket.end();
  await ended;

  expect(await askSecure(way, '/', { headers: { host: 'evil.example' } })).toMatchObject({ status: 421 });
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
