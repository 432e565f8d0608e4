/** The proxy of one operation, with a hostile git on one side and a hostile remote on the other. */
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { GitProxy, GitPurpose } from '../../src/control/ports/index.ts';
import { createGitGateway } from '../../src/gateways/git/gateway.ts';
import { judge } from '../../src/gateways/git/remote-proxy.ts';
import { parseGitUrl } from '../../src/model/git/url.ts';
import { parseAllowedHosts } from '../../src/model/network/allowed-hosts.ts';
import { NotReached } from '../../src/outbound/addresses.ts';
import { createExit, type Exit } from '../../src/outbound/exit.ts';

const owner = 'usr_ada';
const login = { username: 'ada', password: 'canary-52d04dc20036' };
const authorization = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;
const readOnly: GitPurpose = { service: 'git-upload-pack' };
const push: GitPurpose = { service: 'git-receive-pack', ref: 'refs/heads/main' };
const loopback = parseAllowedHosts('test', '127.0.0.0/8');
const ADVERTISEMENT = 'application/x-git-upload-pack-advertisement';
const RESULT = 'application/x-git-upload-pack-result';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A remote that answers as told, and what it was asked. */
async function startRemote(answer: RequestListener): Promise<{ url: string; port: number; seen: Seen[] }> {
  const seen: Seen[] = [];
  const port = await listen(
    createServer((request, response) => {
      const record = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: '',
      };
      seen.push(record);
      request.on('data', (chunk) => {
        record.body += chunk;
      });
      answer(request, response);
    }),
  );
  return { url: `http://127.0.0.1:${port}/team/project.git`, port, seen };
}

const good: RequestListener = (request, response) => {
  const type = request.method === 'GET' ? ADVERTISEMENT : RESULT;
  request.once('end', () =>
    response.writeHead(200, { 'content-type': type, 'x-secret': 'inner' }).end('fine'),
  );
  request.resume();
};

interface Opened {
  proxy: GitProxy;
  /** One request from inside, below the proxy's own path unless `raw`. */
  ask(
    method: string,
    path: string,
    options?: { raw?: boolean; headers?: Record<string, string>; body?: string | Buffer },
  ): Promise<{ status: number; headers: IncomingMessage['headers']; body: string }>;
}

async function openProxy(
  url: string,
  purpose = readOnly,
  timing?: { connectMs: number; idleMs: number },
): Promise<Opened> {
  const gateway = createGitGateway({ exit: createExit(), allowed: loopback, ...(timing ? { timing } : {}) });
  const proxy = await gateway.open(parseGitUrl(url), { login }, purpose, { owner });
  const inside = createNetServer((connection) => proxy.accept(connection));
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
  const { port } = inside.address() as AddressInfo;
  closers.push(() => {
    proxy.close();
    inside.close();
  });
  return {
    proxy,
    ask: (method, path, { raw = false, headers = {}, body } = {}) =>
      new Promise((resolve, reject) => {
        const sent = httpRequest(
          {
            port,
            host: '127.0.0.1',
            method,
            path: raw ? path : `/${proxy.nonce}${path}`,
            headers,
            agent: false,
          },
          (response) => {
            let text = '';
            response.on('data', (chunk) => {
              text += chunk;
            });
            response.once('end', () =>
              resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
            );
            response.once('error', reject);
          },
        );
        sent.once('error', reject);
        sent.end(body);
      }),
  };
}

const INFO = '/info/refs?service=git-upload-pack';

describe('a proxy', () => {
  it.each([
    ['two hosts', 'Host: a\r\nHost: a\r\n'],
    ['no host', ''],
  ])('answers 400 to %s: RFC 9112 (3.2)', async (_what, hosts) => {
    const { proxy } = await openProxy('http://127.0.0.1:9/repository.git');
    const [inside, outside] = duplexPair();
    proxy.accept(inside);
    outside.write(`GET /${proxy.nonce}${INFO} HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
    expect(await text(outside)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('takes 16 connections at once, ends the next one, and has room again when one is over', async () => {
    const { proxy } = await openProxy('http://127.0.0.1:9/repository.git');
    const connect = (): Duplex => {
      const [inside, outside] = duplexPair();
      outside.resume();
      proxy.accept(inside);
      return inside;
    };
    const held = Array.from({ length: 16 }, connect);
    expect(connect().destroyed).toBe(true);
    expect(held.map(({ destroyed }) => destroyed)).not.toContain(true);
    held[0]?.destroy();
    await setImmediate();
    expect(connect().destroyed).toBe(false);
  });

  it('[WIRE-GIT-14] passes the questions of a git, with credentials that git does not see', async () => {
    const remote = await startRemote(good);
    const { ask, proxy } = await openProxy(remote.url);
    const headers = {
      authorization: 'Basic stolen',
      cookie: 'a=b',
      'proxy-authorization': 'x',
      'x-forwarded-for': '10.0.0.1',
      'git-protocol': 'version=2',
      host: 'elsewhere',
    };
    const first = await ask('GET', INFO, { headers });
    expect(first).toMatchObject({ status: 200, body: 'fine' });
    expect(first.headers).toMatchObject({ 'content-type': ADVERTISEMENT });
    expect(first.headers).not.toHaveProperty('x-secret');
    expect(JSON.stringify(first)).not.toContain(login.password);
    await ask('POST', '/git-upload-pack', { headers: { 'content-encoding': 'gzip' }, body: 'want' });
    expect(remote.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `GET /team/project.git${INFO}`,
      'POST /team/project.git/git-upload-pack',
    ]);
    for (const request of remote.seen) {
      expect(request.headers).toMatchObject({ authorization, host: `127.0.0.1:${remote.port}` });
      for (const name of ['cookie', 'proxy-authorization', 'x-forwarded-for']) {
        expect(request.headers).not.toHaveProperty(name);
      }
    }
    expect(remote.seen[0]?.headers).toMatchObject({ 'git-protocol': 'version=2' });
    expect(remote.seen[1]).toMatchObject({ body: 'want', headers: { 'content-encoding': 'gzip' } });
    expect(proxy.failure).toBeNull();
    expect(proxy.received).toBe(8);
  });

  it.each([
    ['GET', '/'],
    ['GET', '/info/refs'],
    ['GET', '/info/refs?service=git-receive-pack'],
    ['GET', '/info/refs?service=git-upload-pack&x=1'],
    ['HEAD', INFO],
    ['POST', '/git-receive-pack'],
    ['POST', '/git-upload-pack/'],
    ['POST', '/../other.git/git-upload-pack'],
    ['GET', `/..%2fother.git${INFO}`],
    ['GET', `/../../other.git${INFO}`],
    ['GET', '/objects/info/packs'],
    ['PUT', '/git-upload-pack'],
    ['DELETE', '/'],
  ])('refuses %s %s, and asks nobody', async (method, path) => {
    const remote = await startRemote(good);
    const { ask, proxy } = await openProxy(remote.url);
    await ask('GET', INFO);
    expect((await ask(method, path)).status).toBe(403);
    expect(remote.seen).toHaveLength(1);
    expect(proxy.failure).toBeNull();
  });

  it('refuses whoever does not know its path, and an exchange before the remote was good', async () => {
    const remote = await startRemote(good);
    const { ask } = await openProxy(remote.url);
    for (const path of [
      INFO,
      `/${'0'.repeat(32)}${INFO}`,
      `http://127.0.0.1:${remote.port}/team/project.git${INFO}`,
    ]) {
      expect((await ask('GET', path, { raw: true })).status).toBe(403);
    }
    expect((await ask('POST', '/git-upload-pack', { body: 'want' })).status).toBe(403);
    expect(remote.seen).toEqual([]);
  });

  it('refuses whatever path is tried', async () => {
    const remote = await startRemote(good);
    const { ask, proxy } = await openProxy(remote.url);
    const piece = fc.constantFrom(
      '/',
      'info/refs',
      '?service=git-upload-pack',
      '..',
      '%2e',
      'git-upload-pack',
      '@h',
      '\\',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST'),
        fc.array(piece, { maxLength: 5 }),
        async (method, pieces) => {
          const path = `/${pieces.join('')}`;
          if (path === INFO) return;
          expect((await ask(method, path)).status).toBe(403);
        },
      ),
      { numRuns: 60 },
    );
    expect(remote.seen).toEqual([]);
    expect(proxy.failure).toBeNull();
  });
});

describe('a remote that', () => {
  it.each([
    [401, 'permission_denied'],
    [403, 'permission_denied'],
    [404, 'not_found'],
    [429, 'unavailable'],
    [500, 'unavailable'],
    [418, 'failed_precondition'],
  ])('answers %i gives %s', async (status, code) => {
    const remote = await startRemote((_request, response) =>
      response.writeHead(status, { 'www-authenticate': 'Basic' }).end(`inner ${login.password}`),
    );
    const { ask, proxy } = await openProxy(remote.url);
    const answer = await ask('GET', INFO);
    expect(answer).toMatchObject({ status: 502, body: 'refused\n' });
    expect(answer.headers).not.toHaveProperty('www-authenticate');
    expect(proxy.failure).toMatchObject({ code });
    expect(JSON.stringify(proxy.failure) + String(proxy.failure)).not.toContain(login.password);
  });

  it('answers a page in place of Git is no way to read it', async () => {
    const remote = await startRemote((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>internal</h1>'),
    );
    const { ask, proxy } = await openProxy(remote.url);
    expect((await ask('GET', INFO)).body).not.toContain('internal');
    expect(proxy.failure).toMatchObject({ code: 'failed_precondition' });
  });

  it('redirects to another host gets no credentials there, and git does not see the redirect', async () => {
    const other = await startRemote(good);
    const remote = await startRemote((_request, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${other.port}/team/project.git${INFO}` }).end(),
    );
    const { ask, proxy } = await openProxy(remote.url);
    const answer = await ask('GET', INFO);
    expect(answer.status).toBe(502);
    expect(answer.headers).not.toHaveProperty('location');
    expect(other.seen).toEqual([]);
    expect(proxy.failure).toMatchObject({ code: 'failed_precondition' });
    expect(proxy.failure?.message).toContain(`127.0.0.1:${other.port}`);
  });

  it('redirects within itself is followed, and stays where it led', async () => {
    const remote = await startRemote((request, response) => {
      if (request.url?.startsWith('/team/')) response.writeHead(301, { location: `/moved/p${INFO}` }).end();
      else good(request, response);
    });
    const { ask, proxy } = await openProxy(remote.url);
    expect((await ask('GET', INFO)).status).toBe(200);
    expect((await ask('POST', '/git-upload-pack', { body: 'want' })).status).toBe(200);
    expect(remote.seen.at(-1)?.url).toBe('/moved/p/git-upload-pack');
    expect(proxy.failure).toBeNull();
  });

  it.each(['/login', 'http://', `//other.example${INFO}`, `https://127.0.0.1${INFO}`, `x${INFO}&y=1`])(
    'redirects to %s is not followed',
    async (location) => {
      const remote = await startRemote((_request, response) => response.writeHead(302, { location }).end());
      const { ask, proxy } = await openProxy(remote.url);
      expect((await ask('GET', INFO)).status).toBe(502);
      expect(remote.seen).toHaveLength(1);
      expect(proxy.failure).toMatchObject({ code: 'failed_precondition' });
    },
  );

  it('redirects round and round is left', async () => {
    const remote = await startRemote((request, response) =>
      response.writeHead(307, { location: request.url ?? '' }).end(),
    );
    const { ask, proxy } = await openProxy(remote.url);
    expect((await ask('GET', INFO)).status).toBe(502);
    expect(remote.seen.length).toBeLessThan(10);
    expect(proxy.failure?.message).toContain('again and again');
  });

  it('is silent gives a timeout', async () => {
    const remote = await startRemote(() => {});
    const { ask, proxy } = await openProxy(remote.url, readOnly, { connectMs: 5_000, idleMs: 100 });
    expect((await ask('GET', INFO)).status).toBe(502);
    expect(proxy.failure).toMatchObject({ code: 'timeout' });
  });

  it('breaks off in the middle is unavailable, also to git', async () => {
    const remote = await startRemote((_request, response) => {
      response.writeHead(200, { 'content-type': ADVERTISEMENT, 'content-length': '1000' });
      response.write('half', () => response.destroy());
    });
    const { ask, proxy } = await openProxy(remote.url);
    await expect(ask('GET', INFO)).rejects.toThrow();
    expect(proxy.failure).toMatchObject({ code: 'unavailable' });
  });

  it('is not there is unavailable', async () => {
    const closed = createServer();
    const port = await listen(closed);
    closed.close();
    const { ask, proxy } = await openProxy(`http://127.0.0.1:${port}/a`);
    expect((await ask('GET', INFO)).status).toBe(502);
    expect(proxy.failure).toMatchObject({ code: 'unavailable' });
  });
});

describe('a push', () => {
  const zero = '0'.repeat(40);
  const line = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text;
  const update = (ref: string, to = '1'.repeat(40)) => line(`${zero} ${to} ${ref}\0 report-status\n`);
  const pushed: RequestListener = (request, response) => {
    const kind = request.method === 'GET' ? 'advertisement' : 'result';
    request.once('end', () =>
      response.writeHead(200, { 'content-type': `application/x-git-receive-pack-${kind}` }).end('fine'),
    );
    request.resume();
  };

  it('changes the branch that was named', async () => {
    const remote = await startRemote(pushed);
    const { ask } = await openProxy(remote.url, push);
    await ask('GET', '/info/refs?service=git-receive-pack');
    const body = `${update('refs/heads/main')}0000PACK${'x'.repeat(300_000)}`;
    expect((await ask('POST', '/git-receive-pack', { body })).status).toBe(200);
    expect(remote.seen.at(-1)?.body).toBe(body);
    expect((await ask('POST', '/git-receive-pack', { body: '0000' })).status).toBe(200);
  });

  it.each([
    ['another branch', update('refs/heads/other')],
    ['a second branch', update('refs/heads/main') + line(`${zero} ${'1'.repeat(40)} refs/heads/other`)],
    ['a deletion', update('refs/heads/main', zero)],
    ['a signed list', line('push-cert\0\n')],
    ['no list', 'GET / HTTP/1.1'],
    ['lengths that lie', '0001'],
    ['an endless list', line(`shallow ${'1'.repeat(40)}\n`).repeat(3_000)],
  ])('of %s is not passed on', async (_what, list) => {
    const remote = await startRemote(pushed);
    const { ask } = await openProxy(remote.url, push);
    await ask('GET', '/info/refs?service=git-receive-pack');
    const answer = await ask('POST', '/git-receive-pack', { body: `${list}0000PACK` }).catch(() => null);
    expect(answer?.status ?? 403).toBe(403);
    expect(remote.seen).toHaveLength(1);
  });

  it('is judged the same however its bytes arrive', () => {
    const list = Buffer.from(`${line(`shallow ${'1'.repeat(40)}\n`)}${update('refs/heads/main')}0000PACK`);
    const end = list.indexOf('0000PACK') + 4;
    for (let length = 0; length <= list.length; length++) {
      expect(judge(list.subarray(0, length), 'refs/heads/main')).toBe(length < end ? 'more' : 'good');
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(['good', 'bad', 'more']).toContain(judge(Buffer.from(bytes), 'refs/heads/main'));
      }),
    );
  });
});

describe('the host of a remote', () => {
  const opened = (url: string, exit: Exit) =>
    createGitGateway({ exit, allowed: loopback }).open(parseGitUrl(url), { login }, readOnly, { owner });

  it('is refused where an address of it is not public', async () => {
    const addresses = ['93.184.216.34', '10.0.0.1'].map((address) => ({ address, family: 4 }));
    const exit = createExit({ askServers: async () => addresses });
    for (const url of [
      'http://h.example/a',
      'http://10.0.0.1/a',
      'http://[fd00::1]/a',
      'http://0x0a000001/a',
    ])
      await expect(opened(url, exit)).rejects.toMatchObject({
        code: 'permission_denied',
        message: expect.stringMatching(/^The service does not connect to \S+\.$/),
        fields: { parameter: 'url', hint: expect.stringContaining('--git-allow') },
      });
  });

  it.each([
    ['unknown', 'The host h.example is not found.', 'Check the URL.'],
    ['silent', 'No name server answers for h.example.', 'Check the URL, or try again later.'],
    ['failing', 'The name servers cannot find h.example now.', 'Check the URL, or try again later.'],
  ] as const)('is unavailable when its name is %s', async (reason, message, hint) => {
    const askServers = () => Promise.reject(new NotReached('h.example', reason));
    await expect(opened('http://h.example/a', createExit({ askServers }))).rejects.toMatchObject({
      ...{ code: 'unavailable', message, fields: { parameter: 'url', hint } },
    });
  });

  it('is resolved once: the connection goes to the address that was checked', async () => {
    const remote = await startRemote(good);
    let asked = 0;
    const exit = createExit({
      askServers: async () => {
        asked++;
        return [{ address: '127.0.0.1', family: 4 }];
      },
    });
    const gateway = createGitGateway({ exit, allowed: loopback });
    const proxy = await gateway.open(
      parseGitUrl(`http://no-such-host.invalid:${remote.port}/a`),
      { login },
      readOnly,
      { owner },
    );
    const inside = createNetServer((connection) => proxy.accept(connection));
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      proxy.close();
      inside.close();
    });
    const { port } = inside.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/${proxy.nonce}${INFO}`);
    expect(response.status).toBe(200);
    expect(asked).toBe(1);
    expect(remote.seen[0]?.headers.host).toBe(`no-such-host.invalid:${remote.port}`);
  });
});
