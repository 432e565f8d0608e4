/** Connections that rules allow pass, byte for byte. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MadeCertificate, makeCertificate } from '../support/certificates.ts';
import { createInternet, type Internet, neighbour, sandbox } from './support/harness.ts';
import { extension, hello, helloMessage, record } from './support/messages.ts';

const megabytes = 1024 * 1024;
const api = '203.0.113.10';

let net: Internet;
let certificate: MadeCertificate;

beforeAll(async () => {
  certificate = makeCertificate(['DNS:api.test']);
  net = await createInternet();
  await net.outside.call('tls', { port: 4433, key: certificate.key(), cert: certificate.pem() });
  await net.zone('api.test', { addresses: [api] });
  await net.zone('deep.down.suffix.test', { addresses: ['203.0.113.11'] });
});

afterAll(async () => {
  await net[Symbol.asyncDispose]();
  certificate.remove();
});

beforeEach(async () => {
  await net.program.allow(sandbox, [
    'https://api.test',
    'https://api.test:4433',
    'https://*.suffix.test',
    'https://203.0.113.128/25',
    'http://api.test',
    'http://203.0.113.200',
    'tcp://api.test:22',
    'tcp://api.test:5000',
  ]);
  expect(await net.resolve('api.test')).toEqual([api]);
});

interface Streamed {
  sent: string;
  received: string;
  count: number;
}

describe('TLS', () => {
  it('passes both ways, 30 MB in each direction, equal to the last byte', async () => {
    const given = { from: sandbox, host: api, port: 4433, tls: 'api.test', bytes: 30 * megabytes };
    const { sent, received, count } = await net.inside.call<Streamed>('stream', given);
    expect(count).toBe(30 * megabytes);
    expect(received).toBe(sent);
  });

  it('passes unopened: the hello arrives as it was sent, and an end of one direction leaves the other', async () => {
    const first = hello(['api.test']).toString('base64');
    const { sent, received, count } = await net.inside.call<Streamed>('stream', {
      ...{ from: sandbox, host: api, port: 443, first, bytes: 30 * megabytes },
    });
    expect(count).toBe(30 * megabytes + Buffer.from(first, 'base64').length);
    expect(received).toBe(sent);
  });

  it('passes with a hello in many records, one byte each', async () => {
    const pieces = [...helloMessage(['api.test'])].map((byte) => record(Buffer.from([byte])));
    const bytes = Buffer.concat(pieces);
    const connection = await net.connect(api, 443);
    for (const piece of pieces.slice(0, 20)) await connection.write(piece);
    await connection.write(Buffer.concat(pieces.slice(20)));
    await expect.poll(async () => (await connection.state()).bytes).toBe(bytes.length);
    expect((await connection.state()).head).toEqual(bytes);
    await connection.end();
    expect((await connection.over()).ended).toBe('end');
  });

  it('passes with a name below a suffix, and with an encrypted inner hello', async () => {
    expect(await net.resolve('deep.down.suffix.test')).toEqual(['203.0.113.11']);
    const bytes = hello(['DEEP.down.suffix.test'], extension(0xfe0d, Buffer.alloc(180)));
    await expectEcho('203.0.113.11', bytes);
  });

  it('passes to addresses of a rule with any name, and without', async () => {
    await expectEcho('203.0.113.200', hello(['any.test']));
    await expectEcho('203.0.113.200', hello([]));
  });

  async function expectEcho(to: string, bytes: Buffer): Promise<void> {
    const connection = await net.connect(to, 443);
    await connection.write(bytes);
    await connection.end();
    const { head, ended } = await connection.over();
    expect(head).toEqual(bytes);
    expect(ended).toBe('end');
  }
});

describe('HTTP', () => {
  const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: api.test\r\n${more}\r\n`;

  it('passes a request and its response, and further ones on the same connection', async () => {
    const connection = await net.connect(api, 80);
    for (const path of ['/one', '/two?x=1', '/three']) {
      await connection.write(get(path));
      await expect
        .poll(async () => (await connection.state()).head.toString())
        .toContain(`GET api.test${path} `);
    }
    const requests = (await net.seen()).at(-1)?.text;
    expect(requests).toBe(get('/one') + get('/two?x=1') + get('/three'));
  });

  it('passes requests that come at once, one after the other', async () => {
    const { head, ended } = await net.talk(api, 80, get('/one') + get('/two', 'Connection: close\r\n'));
    expect(head.toString().match(/GET api\.test\/\w+/g)).toEqual(['GET api.test/one', 'GET api.test/two']);
    expect(ended).toBe('end');
  });

  it('passes bodies of a length and in chunks, and the request behind them', async () => {
    const post = (fields: string, body: string) =>
      `POST / HTTP/1.1\r\nHost: api.test\r\n${fields}\r\n${body}`;
    const requests = [
      post('Content-Length: 5\r\n', 'hello'),
      post('Transfer-Encoding: chunked\r\n', '3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n'),
      get('/last', 'Connection: close\r\n'),
    ];
    const { head } = await net.talk(api, 80, requests.join(''));
    expect(head.toString()).toContain('POST api.test/ hello');
    expect(head.toString()).toContain('POST api.test/ abc0123456789');
    expect(head.toString()).toContain('GET api.test/last ');
    expect((await net.seen()).at(-1)?.text).toBe(requests.join(''));
  });

  it('passes an interim response, before the body that waits for it', async () => {
    const connection = await net.connect(api, 80);
    await connection.write(
      'PUT / HTTP/1.1\r\nHost: api.test\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n',
    );
    await expect
      .poll(async () => (await connection.state()).head.toString())
      .toBe('HTTP/1.1 100 Continue\r\n\r\n');
    await connection.write('body');
    await expect.poll(async () => (await connection.state()).head.toString()).toContain('PUT api.test/ body');
  });

  it('passes an answer to a client that has ended its side', async () => {
    const connection = await net.connect(api, 80);
    await connection.write(get('/'));
    await connection.end();
    const { head, ended } = await connection.over();
    expect(head.toString()).toContain('GET api.test/ ');
    expect(ended).toBe('end');
  });

  it('passes a WebSocket', async () => {
    const connection = await net.connect(api, 80);
    await connection.write(get('/ws', 'Upgrade: websocket\r\nConnection: Upgrade\r\n'));
    await expect
      .poll(async () => (await connection.state()).head.toString())
      .toMatch(/101 Switching.*\r\n\r\nhi$/s);
    await connection.write('\x81\x05frame');
    await expect
      .poll(async () => (await connection.state()).head.toString('latin1'))
      .toContain('hi\x81\x05frame');
  });

  it('passes to addresses of a rule with any Host', async () => {
    const request = 'GET / HTTP/1.1\r\nHost: any.test\r\nConnection: close\r\n\r\n';
    const { head } = await net.talk('203.0.113.200', 80, request);
    expect(head.toString()).toContain('GET any.test/ ');
  });
});

it('TCP of a rule passes at once, also where the server speaks first', async () => {
  const ssh = await net.connect(api, 22);
  await expect.poll(async () => (await ssh.state()).head.toString()).toBe('SSH-2.0-test\r\n');
  await ssh.end();
  const plain = await net.connect(api, 5000);
  await plain.write('neither TLS nor HTTP');
  await plain.end();
  expect((await plain.over()).head.toString()).toBe('neither TLS nor HTTP');
});

it('events tell what was asked and decided, by which rule, and how many bytes passed', async () => {
  await net.zone('noted.suffix.test', { addresses: [api] });
  await net.resolve('noted.suffix.test');
  const bytes = hello(['noted.suffix.test']);
  const connection = await net.connect(api, 443);
  await connection.write(bytes);
  await connection.end();
  await connection.over();
  const decided = {
    sandbox: `sb_${sandbox}`,
    kind: 'tls',
    name: 'noted.suffix.test',
    address: api,
    port: 443,
    rule: 'https://*.suffix.test',
    secret: null,
    allowed: true,
    why: null,
    sent: 0,
    received: 0,
    ended: false,
    at: expect.any(Number),
  };
  const asked = { ...decided, kind: 'dns', address: null, port: null };
  const ended = { ...decided, sent: bytes.length, received: bytes.length, ended: true };
  await expect
    .poll(() => net.program.events.filter(({ name }) => name === 'noted.suffix.test'))
    .toEqual([asked, decided, ended]);
});

it('a policy of one sandbox is no other sandbox’s', async () => {
  await net.program.allow(neighbour, []);
  const { head } = await net.talk(api, 443, hello(['api.test']), neighbour);
  expect(head.toString('hex')).toBe('15030100020231');
});
