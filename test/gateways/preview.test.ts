import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inPart } from '../deep/parts.ts';
import { call, must, type Service, startService } from '../support/service.ts';
import { dial, open, sayRaw, type Visit, visit } from './visitor.ts';

const APP_PORT = 3000;
const HEADER = 'x-sandbox-preview-token';

let service: Service;
let sandbox: string;
/** A signed URL of the sample application, without the slash at its end. */
let site: string;

beforeAll(async () => {
  service = await startService();
  sandbox = await makeSandbox();
  await serveSample(sandbox);
  site = await signed(APP_PORT);
}, 120_000);

afterAll(() => service?.stop());

async function makeSandbox(): Promise<string> {
  return String((await must(service, 'CreateSandbox', { cpu: 2, memory_gb: 1, disk_gb: 1 }))['id']);
}

async function serveSample(inside: string): Promise<void> {
  const content = await readFile(new URL('sample-app.mjs', import.meta.url), 'utf8');
  await must(service, 'WriteFile', { sandbox: inside, path: 'app.mjs', content });
  await must(service, 'RunCommand', {
    sandbox: inside,
    command: 'nohup node app.mjs > log 2>&1 & until grep -q serving log; do sleep 0.05; done',
  });
}

async function preview(port: number, parameters: Record<string, unknown> = {}, inside = sandbox) {
  const result = await must(service, 'GetPortPreviewUrl', { sandbox: inside, port, ...parameters });
  return result as { url: string; token: string; header: string; expires_at: string };
}

async function signed(port: number, seconds = 600, inside = sandbox): Promise<string> {
  const { url } = await preview(port, { signed: true, expires_in_seconds: seconds }, inside);
  return url.slice(0, -1);
}

const hostOf = (url: string) => new URL(url).host;

/** Broken or not. */
function closed(stream: Duplex | Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.on('error', () => {});
    stream.once('close', resolve);
    stream.resume();
  });
}

describe('Sandbox.ListPorts', () => {
  it('[SBX-PORTS-01] [WIRE-PORTS-01] gives number, state and process of what listens, whoever runs it', async () => {
    const command =
      'setpriv --reuid 1234 --regid 1234 --clear-groups nohup python3 -m http.server 8000 >/dev/null 2>&1 & ' +
      'until curl -s 127.0.0.1:8000 >/dev/null; do sleep 0.1; done';
    await must(service, 'RunCommand', { sandbox, command });
    const { ports } = await must(service, 'ListPorts');
    const pid = expect.any(Number);
    const [python, node] = ['python3 -m http.server 8000', 'node app.mjs'];
    expect(ports).toContainEqual({ port: 8000, state: 'listening', name: 'python3', pid, command: python });
    expect(ports).toContainEqual({ port: APP_PORT, state: 'listening', name: 'node', pid, command: node });
  });

  it('[SBX-PORTS-01] shows nothing of the host or of other sandboxes', async () => {
    const other = await makeSandbox();
    expect(await must(service, 'ListPorts', { sandbox: other })).toEqual({ ports: [] });
    expect(await call(service, 'ListPorts')).toMatchObject({ body: { code: 'ambiguous_sandbox' } });
    await must(service, 'DeleteSandbox', { sandbox: other });
  });
});

describe('Sandbox.GetPortPreviewUrl', () => {
  it('[SBX-PREVIEW-01] [SBX-PREVIEW-02] [WIRE-PREVIEW-01] is standard unless asked for a signed one', async () => {
    const result = await must(service, 'GetPortPreviewUrl', { sandbox, port: APP_PORT });
    expect(result).toEqual({
      url: expect.stringMatching(`^http://3000-${sandbox.slice(3)}\\.localhost:\\d+/$`),
      port: APP_PORT,
      signed: false,
      token: expect.stringMatching(/^[a-z2-7]{26}$/),
      header: HEADER,
      expires_at: null,
    });
    expect(await must(service, 'GetPortPreviewUrl', { sandbox, port: APP_PORT })).toEqual(result);
  });

  it('[SBX-PREVIEW-04] [SBX-PREVIEW-05] [WIRE-PREVIEW-01] gives signed ones that end an hour from now', async () => {
    const result = await must(service, 'GetPortPreviewUrl', { sandbox, port: 80, signed: true });
    expect(result).toMatchObject({ port: 80, signed: true, token: null, header: null });
    expect(result['url']).toMatch(/^http:\/\/80-[a-z2-7]{26}\.localhost:\d+\/$/);
    const left = Date.parse(String(result['expires_at'])) - Date.now();
    expect(left / 1_000).toBeGreaterThan(3_500);
    expect(left / 1_000).toBeLessThan(3_601);
  });

  it.each([
    [{}, 'sandbox'],
    [{ sandbox: 'x' }, 'port'],
    [{ sandbox: 'x', port: 0 }, 'port'],
    [{ sandbox: 'x', port: 65_536 }, 'port'],
    [{ sandbox: 'x', port: 80, signed: true, expires_in_seconds: 0 }, 'expires_in_seconds'],
    [{ sandbox: 'x', port: 80, signed: true, expires_in_seconds: 1e12 }, 'expires_in_seconds'],
  ])('[SBX-PREVIEW-01] [WIRE-PREVIEW-02] refuses %j', async (parameters, parameter) => {
    const { status, body } = await call(service, 'GetPortPreviewUrl', parameters);
    expect([status, body['parameter']]).toEqual([400, parameter]);
  });
});

describe('access to a preview', () => {
  it('[SBX-PREVIEW-03] [WIRE-PREVIEW-03] a standard URL answers only with its own token in the header', async () => {
    const { url, token } = await preview(APP_PORT);
    const other = await preview(APP_PORT + 1);
    for (const headers of [{}, { [HEADER]: 'x' }, { [HEADER]: other.token }, { [HEADER]: [token, token] }]) {
      const refused = await visit(url, { headers: headers as Record<string, string> });
      expect(refused.status).toBe(401);
      expect(refused.headers['content-type']).toMatch('text/plain');
      expect(refused.text).toContain(HEADER);
    }
    const seen = await visit(`${url}headers`, { headers: { [HEADER]: token } });
    expect(seen.status).toBe(200);
    expect(seen.text.toLowerCase()).not.toContain(HEADER);
    expect(seen.text).not.toContain(token);
  });

  it('[SBX-PREVIEW-04] a signed URL answers to whoever has it, at its port alone', async () => {
    expect((await visit(`${site}/headers`)).status).toBe(200);
    expect((await visit(`${site.replace('3000-', '8000-')}/`)).status).toBe(401);
    const wrong = site.replace(/-(.)/, (_, first) => `-${first === 'a' ? 'b' : 'a'}`);
    const refused = await visit(`${wrong}/`);
    expect(refused.status).toBe(401);
    expect(refused.text).toBe(
      'This preview has expired or never existed.\nAsk whoever shared it for a new address.\n',
    );
  });

  it('[WIRE-AUTH-01] nobody is asked for the API key, and it opens nothing here', async () => {
    const { url } = await preview(APP_PORT);
    const headers = { authorization: `Bearer ${service.apiKey}` };
    expect((await visit(url, { headers })).status).toBe(401);
  });

  it('no other host is answered to', async () => {
    const port = new URL(site).port;
    const status = async (host: string) =>
      (await sayRaw(site, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).slice(9, 12);
    for (const host of ['127.0.0.1', 'localhost', `evil.example:${port}`, '3000-x.example', 'xlocalhost']) {
      expect(await status(host), host).toBe('421');
    }
    const label = site.replace('http://', '').split('.')[0] ?? '';
    for (const host of [
      'a.localhost',
      '0-x.localhost',
      `x.${label}.localhost`,
      `70000${label.slice(4)}.localhost`,
    ]) {
      expect(await status(host), host).toBe('404');
    }
    expect(await status(`${label.toUpperCase()}.LOCALHOST`)).toBe('404');
    expect((await visit(`${site}/status?code=204`)).status).toBe(204);
  });

  it('[WIRE-PREVIEW-04] nothing outlives the expiry of a signed URL: requests, events, downloads, upgrades', async () => {
    const short = await signed(APP_PORT, 3);
    const begun = Date.now();
    const events = await open(`${short}/events`);
    const download = await open(`${short}/big?bytes=1e12`);
    const upgraded = await upgradeTo(short, '/');
    const ends = [events, download, upgraded].map((stream) => {
      return closed(stream).then(() => Date.now() - begun);
    });
    for (const end of await Promise.all(ends)) expect(end).toBeGreaterThan(2_000);
    expect((await visit(`${short}/headers`)).status).toBe(401);
    expect((await visit(`${site}/headers`)).status).toBe(200);
  }, 60_000);

  it('[WIRE-PREVIEW-04] a stop and a deletion of the sandbox end what is open and refuse what comes', async () => {
    const inside = await makeSandbox();
    await serveSample(inside);
    const own = await signed(APP_PORT, 600, inside);
    const standard = await preview(APP_PORT, {}, inside);
    const events = await open(`${own}/events`);
    const ended = closed(events);
    await must(service, 'StopSandbox', { sandbox: inside });
    await ended;
    const refused = await visit(`${own}/`);
    expect(refused.status).toBe(503);
    expect(refused.text).toContain('stopped');
    // A visitor calls no tools.
    expect(refused.text).toMatch(/Once its owner has started it, load this page again\.\n$/);
    expect(refused.text).not.toContain('Sandbox.');
    await must(service, 'DeleteSandbox', { sandbox: inside });
    expect((await visit(`${own}/`)).status).toBe(401);
    expect((await visit(standard.url, { headers: { [HEADER]: standard.token } })).status).toBe(404);
  }, 60_000);
});

describe('traffic through a preview', () => {
  const json = async (path: string, options?: Visit) => JSON.parse((await visit(site + path, options)).text);

  it('method, path, query, status and its text are as they were', async () => {
    expect(await json('/headers?a=%20b&c', { method: 'DELETE' })).toMatchObject({
      method: 'DELETE',
      url: '/headers?a=%20b&c',
    });
    const seen = await visit(`${site}/status?code=418`);
    expect([seen.status, seen.statusMessage]).toEqual([418, 'As It Was']);
    expect(await visit(`${site}/echo`, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  it('headers of one connection stay on it; Host is as it came; the address of the visitor is set here', async () => {
    const { headers } = await json('/headers', {
      headers: {
        ...{ 'x-forwarded-for': '6.6.6.6', forwarded: 'for=6.6.6.6', 'x-mine': 'kept', te: 'trailers' },
        ...{ connection: 'keep-alive, x-private, host', 'x-private': 'p', 'keep-alive': 'timeout=9' },
      },
    });
    const found = new Map<string, string>();
    for (let at = 0; at < headers.length; at += 2) {
      expect(found.has(headers[at].toLowerCase())).toBe(false);
      found.set(headers[at].toLowerCase(), headers[at + 1]);
    }
    expect(Object.fromEntries(found)).toEqual({
      host: hostOf(site),
      'x-mine': 'kept',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': hostOf(site),
      connection: 'keep-alive',
    });
  });

  it('a cookie stays with its site, and another site learns nothing of the URL', async () => {
    const { headers } = await visit(`${site}/cookies`);
    expect(headers['set-cookie']).toEqual(['a=1; Path=/', 'b=2; path=/; Secure', 'c=domain=x']);
    expect(headers['x-private']).toBeUndefined();
    expect(headers['referrer-policy']).toBe('same-origin');
  });

  it('bodies of every kind', async () => {
    expect((await visit(`${site}/echo`, { method: 'POST', body: 'héllo' })).text).toBe('héllo');
    const pieces = Readable.from([Buffer.from('in '), Buffer.from('pieces')]);
    expect((await visit(`${site}/echo`, { method: 'POST', body: pieces })).text).toBe('in pieces');
    expect((await visit(`${site}/echo`, { method: 'POST' })).text).toBe('');
    expect((await visit(`${site}/until-closed`)).text).toBe('the end is the end');
  });

  it('large bodies up and down, without a wrong byte', async () => {
    const bytes = inPart('output') ? 300e6 : 50e6;
    const block = randomBytes(1 << 18);
    const blocks = Math.ceil(bytes / block.length);
    const hash = createHash('sha256');
    const body = Readable.from(
      (function* () {
        for (let i = 0; i < blocks; i++) {
          const piece = Buffer.from(block);
          piece.writeUInt32LE(i, 0);
          hash.update(piece);
          yield piece;
        }
      })(),
    );
    const up = await json('/digest', { method: 'PUT', body });
    expect(up).toEqual({ bytes: blocks * block.length, digest: hash.digest('hex') });

    const download = await open(`${site}/big?bytes=${bytes}`);
    const came = createHash('sha256');
    for await (const chunk of download) came.update(chunk);
    expect(came.digest('hex')).toBe(download.trailers['x-digest']);
  }, 180_000);

  it('a download waits for a visitor that does not read', async () => {
    const download = await open(`${site}/big?bytes=2e9`);
    download.pause();
    const memory = async () => {
      const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
    };
    const before = await memory();
    await sleep(1_500);
    expect((await memory()) - before).toBeLessThan(200);
    download.destroy();
  }, 30_000);

  it('requests that may be sent twice share a connection, one after another; others have one each', async () => {
    const count = async () => Number((await visit(`${site}/connections`)).text);
    const before = await count();
    for (let i = 0; i < 10; i++) await visit(`${site}/headers`);
    expect((await count()) - before).toBeLessThan(5);
    for (let i = 0; i < 10; i++) await visit(`${site}/echo`, { method: 'POST', body: 'x' });
    expect((await count()) - before).toBeGreaterThanOrEqual(10);
  });

  it('events come one by one, from the first moment', async () => {
    const events = await open(`${site}/events`);
    expect(events.headers['content-type']).toBe('text/event-stream');
    for (const text of ['one', 'two']) {
      const came = once(events, 'data');
      await visit(`${site}/emit?text=${text}`);
      expect(String((await came)[0])).toBe(`data: ${text}\n\n`);
    }
    events.destroy();
    await expect.poll(async () => (await visit(`${site}/emit?text=x`)).text).toBe('0');
  });

  it('a visitor that leaves takes the request with it', async () => {
    const path = '/hang?name=gone';
    const socket = dial(site, `GET ${path} HTTP/1.1\r\nHost: ${hostOf(site)}\r\n\r\n`);
    await sleep(300);
    socket.destroy();
    await expect.poll(async () => json('/left'), { timeout: 5_000 }).toContain('gone');
  });

  it('[WIRE-PREVIEW-04] an upgraded connection carries bytes both ways, and its ends', async () => {
    const socket = await upgradeTo(site, '/');
    let said = '';
    socket.on('data', (bytes: Buffer) => {
      said += bytes;
    });
    socket.resume();
    await expect.poll(() => said).toBe('welcome;EARLY');
    socket.write(' late');
    await expect.poll(() => said).toBe('welcome;EARLY LATE');
    socket.end();
    await closed(socket);
    expect(said).toBe('welcome;EARLY LATEbye');
  });

  it('an upgrade that the application refuses is an answer like any other', async () => {
    const answer = await sayRaw(
      site,
      `GET /no HTTP/1.1\r\nHost: ${hostOf(site)}\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(answer).toMatch(/not here$/);
    const stranger = site.replace(/-(.)/, (_, first) => `-${first === 'a' ? 'b' : 'a'}`);
    const refused = `GET / HTTP/1.1\r\nHost: ${hostOf(stranger)}\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n`;
    expect(await sayRaw(site, refused)).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('a body is sent when the application asks for it, and not when it refuses', async () => {
    const head = (path: string) =>
      `POST ${path} HTTP/1.1\r\nHost: ${hostOf(site)}\r\nExpect: 100-continue\r\nContent-Length: 4\r\n`;
    const socket = dial(site, `${head('/echo')}Connection: close\r\n\r\n`);
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(first.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('body');
    let rest = '';
    socket.on('data', (bytes: Buffer) => {
      rest += bytes;
    });
    await closed(socket);
    expect(rest).toContain('body');
    const refused = await sayRaw(site, `${head('/no')}\r\n`);
    expect(refused).toMatch(/^HTTP\/1\.1 417 /);
    expect(refused).toContain('not that');
  });

  it('an answer that comes before the whole of a body does come', async () => {
    const body = Readable.from(
      (function* () {
        for (let i = 0; i < 400; i++) yield Buffer.alloc(1 << 18);
      })(),
    );
    expect(await visit(`${site}/refuses`, { method: 'POST', body })).toMatchObject({
      status: 413,
      text: 'too much',
    });
  }, 60_000);
});

describe('a refused request', () => {
  const host = () => `Host: ${hostOf(site)}\r\n`;

  it.each([
    ['two lengths', 'POST /echo HTTP/1.1\r\n', 'Content-Length: 4\r\nContent-Length: 5\r\n\r\nbody!', '400'],
    [
      'a length and chunks',
      'POST /echo HTTP/1.1\r\n',
      'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      '400',
    ],
    [
      'an encoding over chunks',
      'POST /echo HTTP/1.1\r\n',
      'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
      '501',
    ],
    [
      'chunks that are none',
      'POST /echo HTTP/1.1\r\n',
      'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
      '400',
    ],
    ['a space before a colon', 'GET / HTTP/1.1\r\n', 'X-A : b\r\n\r\n', '400'],
    ['another site in the path', 'GET http://elsewhere/ HTTP/1.1\r\n', '\r\n', '400'],
    ['two hosts', 'GET / HTTP/1.1\r\n', 'Host: elsewhere.localhost\r\n\r\n', '400'],
    ['headers without end', 'GET / HTTP/1.1\r\n', `X-A: ${'b'.repeat(70_000)}\r\n\r\n`, '431'],
    ['what is no HTTP', '\x16\x03\x01\x02\x00\x01\r\n', '\r\n', '400'],
  ])('%s', async (_name, line, rest, status) => {
    const answer = await sayRaw(site, `${line}${host()}${rest}`);
    expect(answer.slice(9, 12)).toBe(status);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it('a silent connection does not last', async () => {
    const socket = dial(site, 'GET / HTTP/1.1\r\n');
    await closed(socket);
    expect((await visit(`${site}/headers`)).status).toBe(200);
  }, 30_000);
});

describe('an application that is not well', () => {
  it('[WIRE-PREVIEW-05] is 502 with an explanation while nothing listens, and answers once it does', async () => {
    const url = await signed(5000);
    const refused = await visit(url);
    expect(refused.status).toBe(502);
    expect(refused.headers['content-type']).toMatch('text/plain');
    expect(refused.text).toContain('Nothing listens on port 5000 inside the sandbox.');
    const command = 'nohup python3 -m http.server 5000 >/dev/null 2>&1 &';
    await must(service, 'RunCommand', { sandbox, command });
    await expect.poll(async () => (await visit(url)).status, { timeout: 20_000 }).toBe(200);
  }, 30_000);

  it.each([
    ['bytes that are no HTTP', 4001],
    ['headers without end', 4002],
    ['a close', 4003],
    ['a header that cannot be sent on', 4004],
    ['an answer of two lengths', 4005],
    ['an upgrade that nobody asked for', 4006],
  ])('%s in answer is 502', async (_name, port) => {
    const refused = await visit(await signed(port));
    expect(refused.status).toBe(502);
    expect(refused.text).toContain('inside the sandbox');
  });

  it('cuts its answer off where the visitor can see it', async () => {
    await expect(visit(`${site}/half`)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('may close a connection that it said it keeps', async () => {
    const url = await signed(4007);
    for (let i = 0; i < 20; i++) expect((await visit(url)).text).toBe('ok');
  });

  it('is worth waiting for, and the wait counts as activity', async () => {
    const before = String((await must(service, 'GetSandbox', { sandbox }))['last_activity_at']);
    const socket = dial(site, `GET /hang?name=patient HTTP/1.1\r\nHost: ${hostOf(site)}\r\n\r\n`);
    let said = '';
    socket.on('data', (bytes: Buffer) => {
      said += bytes;
    });
    await sleep(2_000);
    expect([said, socket.readyState]).toEqual(['', 'open']);
    const after = String((await must(service, 'GetSandbox', { sandbox }))['last_activity_at']);
    expect(Date.parse(after)).toBeGreaterThan(Date.parse(before));
    socket.destroy();
  }, 20_000);
});

/** Sends `early` right behind the request; resolves when the application has agreed. */
async function upgradeTo(url: string, path: string): Promise<Socket> {
  const socket = dial(
    url,
    `GET ${path} HTTP/1.1\r\nHost: ${hostOf(url)}\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\nearly`,
  );
  let head = '';
  while (!head.includes('\r\n\r\n')) head += String((await once(socket, 'data'))[0]);
  const end = head.indexOf('\r\n\r\n') + 4;
  expect(head.slice(0, end)).toMatch(/^HTTP\/1\.1 101 /);
  expect(head).toContain('X-Seen: shout\r\n');
  socket.pause();
  if (head.length > end) socket.unshift(Buffer.from(head.slice(end)));
  return socket;
}
