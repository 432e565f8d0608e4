/** Responses of a server that a client could read in another way than the gate. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOpened, type Opened, secret } from './support/harness.ts';

const cases: [string, string][] = [
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc'],
  ['a length of letters', 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nabc'],
  ['a field that goes on in the next line', 'HTTP/1.1 200 OK\r\nX-A: 1\r\n Set-Cookie: 2\r\n\r\n'],
  ['a zero byte in a field', 'HTTP/1.1 200 OK\r\nX-A: a\0b\r\n\r\n'],
  [
    'a switch of protocols that nobody asked for',
    'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nfree',
  ],
  ['no HTTP', 'SSH-2.0-x\r\n\r\n'],
];
const first = 9460;

let net: Opened;

beforeAll(async () => {
  net = await createOpened();
  const signed = net.roots.sign(['api.test']);
  for (const [at, [, text]] of cases.entries()) {
    await net.servers.call('canned', { port: first + at, ...signed, pieces: [text], ends: false });
  }
});

afterAll(() => net[Symbol.asyncDispose]());

const request = (port: number) => `GET / HTTP/1.1\r\nConnection: close\r\nHost: api.test:${port}\r\n\r\n`;

it.each(cases.map(([what], at) => [what, first + at] as const))('%s', async (_what, at) => {
  await net.give([secret({ targets: [{ host: 'api.test', port: at, methods: [], path: null }] })], {
    rules: [`https://api.test:${at}`],
  });
  const { text } = await net.raw(request(at), { port: at });
  expect(text).toMatch(/^HTTP\/1\.1 502 /);
});

it('a length beside chunks: the length is gone', async () => {
  const pieces = [
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  ];
  await net.servers.call('canned', { port: 9459, ...net.roots.sign(['api.test']), pieces, ends: false });
  await net.give([secret({ targets: [{ host: 'api.test', port: 9459, methods: [], path: null }] })], {
    rules: ['https://api.test:9459'],
  });
  const { text } = await net.raw(request(9459), { port: 9459 });
  expect(text.toLowerCase()).not.toContain('content-length');
  expect(text).toMatch(/\r\n\r\n3\r\nabc\r\n0\r\n\r\n$/);
});
