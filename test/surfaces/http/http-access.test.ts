/** Who may call, from where, and how much at once. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHostCheck } from '../../../src/surfaces/http/hosts.ts';
import { skippableTime } from '../../support/skip-time.ts';
import { API_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from './http-harness.ts';

const LINGER_MS = 5_000;
const CONNECTION_CHECK_MS = 2_000;
const CLOSE_GRACE_MS = 5_000;

let http: Harness;

beforeAll(async () => {
  http = await startHttp({ mcp: { handle: async (_request, response) => void response.end('mcp') } });
});

afterAll(() => http.close());

const routes = [
  ['GET', '/v1/tools'],
  ['POST', '/v1/tools/Sandbox.WhoAmI'],
  ['GET', '/openapi.json'],
  ['PUT', '/v1/sandboxes/a/files?path=x'],
  ['GET', '/v1/sandboxes/a/files?path=x'],
  ['POST', '/mcp'],
  ['GET', '/mcp'],
  ['GET', '/nowhere'],
] as const;

describe('the key', () => {
  it.each(routes)('[WIRE-AUTH-03] [SBX-AUTH-01] [WIRE-ERR-06] %s %s needs one', async (method, path) => {
    const response = await fetch(http.url + path, { method });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(await response.json()).toMatchObject({ code: 'unauthenticated', hint: expect.any(String) });
  });

  it.each([
    ['[WIRE-AUTH-01] as a bearer token', { authorization: `Bearer ${API_KEY}` }, 200],
    ['[WIRE-AUTH-01] whatever the case of the scheme', { authorization: `bearer ${API_KEY}` }, 200],
    ['[WIRE-AUTH-02] as X-API-Key', { 'x-api-key': API_KEY }, 200],
    ['[WIRE-AUTH-04] a wrong bearer token', { authorization: 'Bearer wrong' }, 401],
    ['[WIRE-AUTH-04] a wrong X-API-Key', { 'x-api-key': 'wrong' }, 401],
    ['[WIRE-AUTH-04] another scheme', { authorization: `Basic ${API_KEY}` }, 401],
    ['[WIRE-AUTH-04] an empty one', { authorization: 'Bearer ' }, 401],
    ['[WIRE-AUTH-04] one with something behind it', { authorization: `Bearer ${API_KEY} x` }, 401],
  ])('%s', async (_name, headers, status) => {
    const response = await fetch(`${http.url}/v1/tools`, { headers });
    expect(response.status).toBe(status);
    expect(await response.text()).not.toContain('wrong');
  });

  it('does not count in the address', async () => {
    expect((await fetch(`${http.url}/v1/tools?api_key=${API_KEY}`)).status).toBe(401);
  });
});

describe('Host and Origin', () => {
  const request = (path: string, headers: string) =>
    `GET ${path} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`;

  it.each(['/healthz', '/v1/tools', '/mcp', '/openapi.json', '/nowhere', '/v1/sandboxes/a/files?path=x'])(
    '%s answers 421 to an unknown Host, with the key or without',
    async (path) => {
      for (const host of [
        'evil.example',
        'evil.example:7420',
        '127.0.0.1.evil.example',
        '',
        'user@localhost',
        'localhost/',
        '[::1',
      ]) {
        const answer = await http.raw(request(path, `Host: ${host}\r\nAuthorization: Bearer ${API_KEY}`));
        expect(answer, host).toMatch(/^HTTP\/1\.1 421 /);
        expect(answer).toContain('application/problem+json');
      }
    },
  );

  it.each([
    ['two hosts', '1.1', 'Host: localhost\r\nHost: evil.example\r\n', 400],
    ['two hosts alike', '1.1', 'Host: localhost\r\nhost: localhost\r\n', 400],
    ['two hosts of an old client', '1.0', 'Host: localhost\r\nHost: localhost\r\n', 400],
    ['no host', '1.1', '', 400],
    ['no host of an old client', '1.0', '', 421],
  ])('%s: RFC 9112 (3.2)', async (_what, version, hosts, status) => {
    for (const path of [
      '/healthz',
      '/v1/tools',
      '/mcp',
      '/metrics',
      '/nowhere',
      '/v1/sandboxes/a/terminal',
    ]) {
      for (const upgrade of ['Connection: close', 'Connection: Upgrade\r\nUpgrade: websocket']) {
        const head = `GET ${path} HTTP/${version}\r\n${hosts}Authorization: Bearer ${API_KEY}\r\n`;
        const answer = await http.raw(`${head}${upgrade}\r\n\r\n`);
        expect(answer, `${path} ${upgrade}`).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
        expect(answer).toContain('application/problem+json');
      }
    }
  });

  it.each(['127.0.0.1', 'localhost', 'LOCALHOST:1234', 'localhost.'])(
    'answers to the Host %s',
    async (host) => {
      expect(await http.raw(request('/healthz', `Host: ${host}`))).toMatch(/^HTTP\/1\.1 200 /);
    },
  );

  it('takes IPv6 addresses with brackets, and ports where they are named', () => {
    const hosts = createHostCheck(['::1', 'box.example:443']);
    expect(hosts.knows('[::1]:7420')).toBe(true);
    expect(hosts.knows('box.example:443')).toBe(true);
    expect(hosts.knows('box.example')).toBe(false);
    expect(hosts.knows(undefined)).toBe(false);
  });

  it.each([
    [undefined, 200],
    ['http://localhost:3000', 200],
    ['http://127.0.0.1:1', 200],
    ['http://evil.example', 403],
    ['https://localhost.evil.example', 403],
    ['null', 403],
    ['', 403],
    ['file://localhost', 403],
    ['chrome-extension://abc', 403],
  ])('an Origin of %j gives %i', async (origin, status) => {
    const line = origin === undefined ? '' : `\r\nOrigin: ${origin}`;
    for (const path of ['/v1/tools', '/healthz']) {
      const answer = await http.raw(
        request(path, `Host: localhost\r\nAuthorization: Bearer ${API_KEY}${line}`),
      );
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    }
  });
});

describe('the wire', () => {
  it.each([
    ['nonsense', 'nonsense\r\n\r\n'],
    ['a header that is too large', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(64_000)}\r\n\r\n`],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('answers %s with a problem and closes', async (_what, bytes) => {
    const answer = await http.raw(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer).toContain('application/problem+json');
    expect(answer.toLowerCase()).toContain('connection: close');
  });

  it('lets a client read the refusal of what it is still sending, and then ends it', async () => {
    const skip = skippableTime();
    const socket = connect(http.port, '127.0.0.1');
    let answer = '';
    let closed = false;
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => {
      closed = true;
    });
    socket.on('error', () => {});
    socket.write(
      'PUT /v1/sandboxes/a/files?path=x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n',
    );
    const writing = setInterval(() => socket.write('x'.repeat(1_000)), 50);
    await expect.poll(() => answer).toContain('401');
    await skip(LINGER_MS - 2_000);
    expect(closed).toBe(false);
    await skip(2_000);
    await expect.poll(() => closed).toBe(true);
    clearInterval(writing);
  });
});

describe('clients that go away', () => {
  it('[WIRE-HTTP-08] cancel their foreground command', async () => {
    const controller = new AbortController();
    const call = fetch(`${http.url}/v1/tools/Sandbox.RunCommand`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ command: 'sleep 50' }),
      signal: controller.signal,
    }).catch(() => null);
    await expect.poll(() => http.begun).toContain('sleep 50');
    controller.abort();
    await call;
    await expect.poll(() => http.cancelled).toContain('sleep 50');
    await expect.poll(() => http.log.some(({ context }) => context['abandoned'] === true)).toBe(true);
    expect(http.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('[WIRE-HTTP-09] never cancel a lifecycle operation', async () => {
    const controller = new AbortController();
    const call = fetch(`${http.url}/v1/tools/Sandbox.CreateSandbox`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'left', image: 'slow' }),
      signal: controller.signal,
    }).catch(() => null);
    await sleep(50);
    controller.abort();
    await call;
    await expect.poll(() => http.completed).toContain('create left');
  });
});

describe('MCP', () => {
  it('is handed the request of an authenticated caller, and from where, with its body unread', async () => {
    let seen = '';
    const own = await startHttp({
      mcp: {
        async handle(request, response, { caller, address }) {
          for await (const chunk of request) seen += chunk;
          response.end(`${caller.id} at ${address}`);
        },
      },
    });
    const response = await own.fetch('/mcp', {
      method: 'POST',
      body: '{"jsonrpc":',
      headers: { 'content-type': 'application/json' },
    });
    expect(await response.text()).toBe('user_1 at 127.0.0.1');
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(seen).toBe('{"jsonrpc":');
    await own.close();
  });
});

describe('time', () => {
  it('ends connections whose headers do not come', async () => {
    const own = await startHttp();
    expect(own.server.headersTimeout).toBe(10_000);
    own.server.headersTimeout = 100;
    const begun = performance.now();
    const answer = await own.raw('GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ');
    expect(answer).toContain('application/problem+json');
    expect(performance.now() - begun).toBeLessThan(100 + 2 * CONNECTION_CHECK_MS + 1_000);
    await own.close();
  });

  it('gives calls in progress a moment when the service stops, and no more', async () => {
    const own = await startHttp();
    const skip = skippableTime();
    const soon = own.call('Sandbox.RunCommand', { command: 'sleep 1' });
    const late = own.call('Sandbox.RunCommand', { command: 'sleep 50' }).catch(() => null);
    await expect.poll(() => own.begun).toHaveLength(2);
    const begun = performance.now();
    const stopped = own.stop();
    expect((await soon).status).toBe(200);
    await skip(CLOSE_GRACE_MS - 2_500);
    expect(own.cancelled).toEqual([]);
    await skip(2_500);
    await stopped;
    expect(performance.now() - begun).toBeLessThan(CLOSE_GRACE_MS + 2_000);
    expect(await late).toBeNull();
    await expect.poll(() => own.cancelled).toEqual(['sleep 50']);
  });
});
