/** Everything that HTTP does passes through opened TLS, while it streams, and values leave its answers. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Client, createOpened, type Opened, placeholder, secret, value } from './support/harness.ts';

const stars = '*'.repeat(value.length);

let net: Opened;

beforeAll(async () => {
  net = await createOpened();
});

afterAll(() => net[Symbol.asyncDispose]());

describe.each(['h1', 'h2'] as const)('over %s', (protocol) => {
  let client: Client;

  beforeEach(async () => {
    await net.give([secret()]);
    client = await net.client(protocol);
    return () => client.close();
  });

  it('a body of 16 MB passes in each direction, equal to the last byte', async () => {
    const { body } = await client.ask({ method: 'POST', path: '/upload', megabytes: 16 });
    const sha256 = await net.clients.call<string>('hash', { megabytes: 16 });
    expect(JSON.parse(body)).toEqual({ bytes: 16 << 20, sha256 });
    expect((await client.ask({ path: '/big?megabytes=16' })).bytes).toBe(16 << 20);
  });

  it('events of a server arrive as it sends them, without the value', async () => {
    const { body, pieces } = await client.ask({ path: '/events' });
    expect(body).toBe(`data: first\n\ndata: Bearer ${stars}\n\ndata: last\n\n`);
    expect(pieces).toBeGreaterThan(2);
  });

  it('a value in pieces of one byte is masked', async () => {
    const { body } = await client.ask({ path: '/chunks' });
    expect(body).toBe(`["Bearer ${stars}","Bearer ${stars}"]`);
  });

  it('a masked body keeps its stated length', async () => {
    const { body, headers } = await client.ask({ path: '/length' });
    expect(body).toBe(`-- Bearer ${stars} --`);
    expect(Number(headers['content-length'])).toBe(body.length);
  });

  it('values in fields and in redirects are masked', async () => {
    expect((await client.ask({ path: '/in-fields' })).headers['x-echo']).toBe(`Bearer ${stars}`);
    const { status, headers } = await client.ask({ path: '/redirect' });
    expect([status, headers['location']]).toEqual([302, `https://other.test/?key=Bearer ${stars}`]);
  });

  it('a body that is no text passes as it is', async () => {
    expect((await client.ask({ path: '/binary' })).body).toBe(`Bearer ${value}`);
  });

  it('the value of basic authentication is masked in the form that it was sent in', async () => {
    await net.give([secret({ place: { in: 'basic', username: 'bot' } })]);
    const sent = Buffer.from(`bot:${value}`).toString('base64');
    expect((await client.ask({ path: '/length' })).body).toBe(`-- Basic ${'*'.repeat(sent.length)} --`);
  });

  it.each([
    ['', '', '*'.repeat(36)],
    ['a', '', `YTp${'*'.repeat(31)}Y=`],
    ['ab', '', `YWI6${'*'.repeat(32)}`],
    ['abc', '', `YWJj${'*'.repeat(36)}`],
    ['', '!', `On${'*'.repeat(31)}iE=`],
  ])(
    'inside basic authentication the value is masked whatever stands around it: %j and %j',
    async (user, behind, echo) => {
      await net.give([secret({ place: { in: 'basic', username: null } })]);
      const own = Buffer.from(`${user}:${placeholder}${behind}`).toString('base64');
      const { body } = await client.ask({ path: '/length', headers: { authorization: `Basic ${own}` } });
      expect(body).toBe(`-- Basic ${echo} --`);
    },
  );

  it('the value is masked as JSON writes it', async () => {
    const odd = 'say "no" to C:\\temp';
    await net.give([secret({ value: odd })]);
    const { headers } = await client.echo();
    expect(headers['authorization']).toBe(`Bearer ${'*'.repeat(22)}`);
  });

  it('an answer before the end of a large body arrives', async () => {
    const { status, body } = await client.ask({
      method: 'POST',
      path: '/early',
      headers: { 'content-type': 'text/plain' },
      body: 'x',
    });
    expect([status, body]).toEqual([413, 'too large']);
  });

  it('requests of all kinds follow each other on one connection', async () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PATCH']) {
      const { status } = await client.ask({ method, path: `/${method}` });
      expect([method, status]).toEqual([method, 200]);
    }
    expect((await net.requests()).slice(-5).map(({ method }) => method)).toEqual([
      ...['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PATCH'],
    ]);
  });
});

it('a call of gRPC has its trailers, without the value', async () => {
  await net.give([secret()]);
  const client = await net.client('h2');
  const headers = { te: 'trailers', 'content-type': 'application/grpc' };
  const { body, trailers } = await client.ask({ method: 'POST', path: '/grpc', headers, body: 'message' });
  expect(body).toBe('message');
  expect(trailers).toEqual({ 'grpc-status': '0', 'grpc-message': `Bearer ${stars}` });
  await client.close();
});

it('streams of HTTP/2 run side by side: a slow one holds up no other', async () => {
  await net.give([secret()]);
  const client = await net.client('h2');
  const start = performance.now();
  const slow = client.ask({ path: '/slow?ms=1500' });
  const others = await Promise.all(Array.from({ length: 50 }, () => client.ask()));
  expect(others.map(({ status }) => status)).toEqual(Array(50).fill(200));
  expect(performance.now() - start).toBeLessThan(1500);
  expect((await slow).body).toBe('slow');
  await client.close();
});

it('a WebSocket passes both ways, with the secret in its first request', async () => {
  await net.give([secret()]);
  const host = 'Host: api.test:9443\r\n';
  const { text } = await net.raw(
    `GET /ws HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x05frame`,
    { quietMs: 300 },
  );
  expect(text).toMatch(/^HTTP\/1\.1 101 /);
  expect(text.split('\r\n\r\n')[1]).toBe('hi\x81\x05frame');
  expect((await net.requests()).at(-1)?.headers['authorization']).toBe(`Bearer ${value}`);
});

it('a client that waits for 100-continue hears it, and its body arrives', async () => {
  await net.give([secret()]);
  const head =
    'PUT /upload HTTP/1.1\r\nHost: api.test:9443\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n';
  const { text } = await net.raw(`${head}body`);
  expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  expect(text).toContain('{"bytes":4,');
});

it('an end of the server ends the connection of the client, in order', async () => {
  await net.servers.call('canned', {
    ...{ port: 9450, ...net.roots.sign(['api.test']), ends: true },
    pieces: ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'],
  });
  const targets = [{ host: 'api.test', port: 9450, methods: [], path: null }];
  await net.give([secret({ targets })], { rules: ['https://api.test:9450'] });
  const { text, ended } = await net.raw('GET / HTTP/1.1\r\nHost: api.test:9450\r\n\r\n', { port: 9450 });
  expect(text).toMatch(/\r\n\r\nok$/);
  expect(ended).toBe('end');
});

it('128 MB pass within a few megabytes of memory', async () => {
  await net.give([secret()]);
  const client = await net.client('h2');
  await client.ask();
  const before = net.memory();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, net.memory());
  }, 20);
  const { bytes } = await client.ask({ path: '/big?megabytes=128' });
  clearInterval(watch);
  expect(bytes).toBe(128 << 20);
  expect(most - before).toBeLessThan(4 * 1024);
  await client.close();
}, 60_000);
